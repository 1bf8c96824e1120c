#!/bin/bash
# On the host: the failures of md.sh on Lunar's volumes, by commands as people give them. Prints lines "verdict|NAME|TEXT".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lunar-raid.XXXXXX")
export LAB=$here/.. LAB_SCRATCH=$scratch LUNAR_CONFIG=$scratch/volumes.toml
# shellcheck source=lab/vm/host.sh
. "$LAB/host.sh"
trap 'for name in "${!servers[@]}"; do stop "$name" KILL; done; rm -rf "$scratch"' EXIT
mib=48 data=$scratch/data

verdict() { echo "verdict|$1|$2"; }
quiet() { lunar "$@" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; return 1; }; }
member() { echo "$scratch/m$1"; }
uri() { echo "file:$(member "$1")"; }
blank() { rm -f "$(member "$1")" && truncate -s ${mib}M "$(member "$1")"; }

# make VOLUME COUNT [OPTION...]: over new members 0 to COUNT-1, in sync.
make() {
    local n list=()
    rm -f "$LUNAR_CONFIG"
    for ((n = 0; n < $2; n++)); do
        blank $n
        list+=("$(uri $n)")
    done
    quiet raid create "$1" "${list[@]}" --assume-clean "${@:3}"
}
fill() { quiet copy "$data" "$1" --no-sparse; }
back() { rm -f "$scratch/back" && quiet copy "$1" "$scratch/back"; }
right() { back "$1" && cmp -s -n 32M "$data" "$scratch/back"; }
yes_or() { if "${@:2}"; then echo yes; else echo "$1"; fi; }
degraded() { sed -i '/^\[\[volume\]\]/a degraded = "yes"' "$LUNAR_CONFIG"; }
data_offset() { od -An -j128 -N8 --endian=big -t u8 "$(member 0)" | tr -d ' '; }
random "$data" 32

# --- a loss, degraded writes, a replacement, a second loss ---

for level in 5 6; do
    volume=raid$level:losses losses=$((level - 4))
    make $volume $((level - 1))
    fill $volume
    degraded
    for ((n = 0; n < losses; n++)); do rm "$(member $n)"; done
    verdict "raid$level: data with $losses lost" "$(yes_or NO right $volume)"
    dd if=/dev/urandom of="$data" bs=1M count=4 seek=7 conv=notrunc status=none
    fill $volume
    verdict "raid$level: degraded writes are there" "$(yes_or NO right $volume)"
    for ((n = 0; n < losses; n++)); do
        blank $((6 + n))
        quiet raid replace $volume $n "$(uri $((6 + n)))"
    done
    quiet raid rebuild $volume
    for ((n = 2; n < 2 + losses; n++)); do rm "$(member $n)"; done
    verdict "raid$level: data after rebuild and $losses more lost" "$(yes_or NO right $volume)"
done

# --- bits that change by themselves ---

for level in 5 6; do
    volume=raid$level:bits
    make $volume $((level - 1))
    fill $volume
    dd if=/dev/urandom of="$(member 1)" bs=512 seek=$(($(data_offset) / 512 + 8)) count=8 conv=notrunc status=none
    verdict "raid$level: a check finds 4 KiB that changed" "$(if lunar raid scrub $volume >/dev/null 2>&1; then echo NO; else echo yes; fi)"
    quiet raid scrub $volume --repair
    verdict "raid$level: a repair brings the data back" "$(yes_or 'NO, the parity now fits the wrong data' right $volume)"
done

# --- the write hole: power is cut when the data of a stripe are written and its parity is not, and a disk is lost ---

hole() { # NAME OPTION...
    local port gateway volume=raid5:hole where what
    make $volume 4 "${@:2}"
    fill $volume
    # Member 3, which has the parity of stripe 0, is in a process of its own, which stops.
    port=$(free_port) gateway=$(free_port)
    serve parity "$port" iqn.2026-11.org.lunar:parity "$(uri 3)"
    sed -i "s|$(uri 3)|iscsi://127.0.0.1:$port/iqn.2026-11.org.lunar:parity/0|" "$LUNAR_CONFIG"
    serve gateway "$gateway" iqn.2026-11.org.lunar:hole $volume
    local lun=iscsi://127.0.0.1:$gateway/iqn.2026-11.org.lunar:hole/0
    head -c 64K "$data" >"$scratch/old"
    quiet copy "$scratch/old" $lun --no-sparse # so that the bitmap has the place already
    kill -STOP "${servers[parity]}"
    random "$scratch/new" 1
    truncate -s 64K "$scratch/new"
    start writer "$LAB/../../lunar" copy "$scratch/new" $lun --no-sparse
    sleep 4
    stop gateway KILL
    stop parity KILL
    stop writer KILL
    where='data not written yet'
    ! dd if="$(member 0)" bs=512 skip=$(($(data_offset) / 512)) count=128 status=none | cmp -s - "$scratch/new" || where='data written'
    rm "$(member 1)"
    sed -i "s|iscsi://127.0.0.1:$port/iqn.2026-11.org.lunar:parity/0|$(uri 3)|" "$LUNAR_CONFIG"
    degraded
    if back $volume; then
        cmp -s -i 64K -n 64K "$data" "$scratch/back" && what=right || what='WRONG, silently'
    else
        what='not readable'
    fi
    verdict "$1" "$what ($where)"
}
hole 'write hole, journal on the members'
truncate -s 64M "$scratch/journal"
hole 'write hole, journal device' --journal "file:$scratch/journal"
