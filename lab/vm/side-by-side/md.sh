#!/bin/bash
# In the guest: Linux md (mdadm) over loop devices, and what becomes of data in each kind of failure. Prints lines
# "verdict|NAME|TEXT"; `compare` puts them beside Lunar's.
set -euo pipefail
mib=48 chunk=64 # KiB
dir=/tmp/members
mkdir -p $dir
modprobe -a loop raid456 dm_mod
modprobe dm-delay
dmesg -n 1

verdict() { echo "verdict|$1|$2"; }
member() { echo /dev/loop$((40 + $1)); }
attach() { [[ -e $(member "$1") ]] || mknod "$(member "$1")" b 7 $((40 + $1)); losetup "$(member "$1")" "${2-$dir/$1}"; }
blank() { rm -f "$dir/$1"; truncate -s ${mib}M "$dir/$1"; }
md=/dev/md7
idle() { [[ $(cat /sys/block/md7/md/sync_action) == idle ]]; }
settled() { wait_for 100 idle; }

# make LEVEL COUNT [OPTION...]: a volume over new members 0 to COUNT-1, in sync.
make() {
    local n list=()
    for ((n = 0; n < $2; n++)); do
        blank $n
        attach $n
        list+=("$(member $n)")
    done
    mdadm --create $md --run --quiet --level="$1" --raid-devices="$2" --chunk=$chunk --metadata=1.2 --assume-clean "${@:3}" "${list[@]}" 2>/dev/null
    settled
}
unmake() {
    local n
    mdadm --stop --quiet $md 2>/dev/null || true
    dmsetup remove slow 2>/dev/null || true
    for n in 0 1 2 3 4 5 6 7; do losetup -d "$(member $n)" 2>/dev/null || true; done
}
fill() { dd if=/tmp/data of=$md bs=1M oflag=direct status=none; sync; }
right() { echo 3 >/proc/sys/vm/drop_caches; dd if=$md bs=1M count=32 iflag=direct status=none | cmp -s - /tmp/data; }
yes_or() { if "${@:2}"; then echo yes; else echo "$1"; fi; }
dd if=/dev/urandom of=/tmp/data bs=1M count=32 status=none

# --- a loss, degraded writes, a replacement, a second loss ---

for level in 5 6; do
    losses=$((level - 4))
    make $level $((level - 1))
    fill
    for ((n = 0; n < losses; n++)); do mdadm --quiet $md --fail "$(member $n)" --remove "$(member $n)" 2>/dev/null; done
    verdict "raid$level: data with $losses lost" "$(yes_or NO right)"
    dd if=/dev/urandom of=/tmp/data bs=1M count=4 seek=7 conv=notrunc status=none
    fill
    verdict "raid$level: degraded writes are there" "$(yes_or NO right)"
    for ((n = 0; n < losses; n++)); do
        blank $((6 + n))
        attach $((6 + n))
        mdadm --quiet $md --add "$(member $((6 + n)))" 2>/dev/null
    done
    wait_for 100 eval '[[ $(cat /sys/block/md7/md/degraded) == 0 ]]'
    settled
    for ((n = 2; n < 2 + losses; n++)); do mdadm --quiet $md --fail "$(member $n)" 2>/dev/null; done
    verdict "raid$level: data after rebuild and $losses more lost" "$(yes_or NO right)"
    unmake
done

# --- bits that change by themselves ---

for level in 5 6; do
    make $level $((level - 1))
    fill
    mdadm --stop --quiet $md
    offset=$(mdadm -E "$(member 1)" | awk '/Data Offset/ { print $4 }')
    dd if=/dev/urandom of=$dir/1 bs=512 seek=$((offset + 8)) count=8 conv=notrunc status=none
    mdadm --assemble --quiet $md $(for ((n = 0; n < level - 1; n++)); do member $n; done)
    echo check >/sys/block/md7/md/sync_action
    sleep 1
    settled
    verdict "raid$level: a check finds 4 KiB that changed" \
        "$( (($(cat /sys/block/md7/md/mismatch_cnt))) && echo yes || echo NO)"
    echo repair >/sys/block/md7/md/sync_action
    sleep 1
    settled
    verdict "raid$level: a repair brings the data back" "$(yes_or 'NO, the parity now fits the wrong data' right)"
    unmake
done

# --- the write hole: power is cut when the data of a stripe are written and its parity is not, and a disk is lost ---

hole() { # NAME OPTION...
    local offset pid n size
    make 5 4 "${@:2}"
    fill
    mdadm --stop --quiet $md
    # Member 3 has the parity of stripe 0: it gets slow, but for what is before its data.
    offset=$(mdadm -E "$(member 3)" | awk '/Data Offset/ { print $4 }')
    size=$(blockdev --getsz "$(member 3)")
    dmsetup create slow <<TABLE
0 $offset linear $(member 3) 0
$offset $((size - offset)) delay $(member 3) $offset 0 $(member 3) $offset 6000 $(member 3) $offset 0
TABLE
    mdadm --assemble --quiet $md "$(member 0)" "$(member 1)" "$(member 2)" /dev/dm-0 ${journal-}
    dd if=/dev/urandom of=/tmp/new bs=64k count=1 status=none
    dd if=/tmp/new of=$md bs=64k count=1 oflag=direct status=none &
    pid=$!
    sleep 2
    for n in 0 2 3 5; do [[ ! -e $dir/$n ]] || cp "$dir/$n" "$dir/$n.cut"; done # what is on the disks when power goes
    wait $pid
    dd if=$dir/0.cut bs=512 skip=$offset count=128 status=none | cmp -s - /tmp/new && where="data written" || where="data not written yet"
    unmake
    for n in 0 2 3; do attach $n "$dir/$n.cut"; done
    [[ -z ${journal-} ]] || attach 5 "$dir/5.cut"
    how=''
    if ! mdadm --assemble --run --quiet $md "$(member 0)" "$(member 2)" "$(member 3)" ${journal-} 2>/tmp/why; then
        how=', after --force'
        mdadm --stop --quiet $md 2>/dev/null || true
        mdadm --assemble --run --force --quiet $md "$(member 0)" "$(member 2)" "$(member 3)" ${journal-} 2>/tmp/why || true
    fi
    [[ $(cat /sys/block/md7/md/array_state 2>/dev/null) != readonly ]] || mdadm --readwrite --quiet $md || true
    if dd if=$md bs=64k skip=1 count=1 iflag=direct of=/tmp/back status=none 2>/tmp/why; then
        dd if=/tmp/data bs=64k skip=1 count=1 status=none | cmp -s - /tmp/back && what=right || what='WRONG, silently'
    else
        what='not readable'
    fi
    verdict "$1" "$what$how ($where)"
    rm -f $dir/*.cut
    unmake
}
hole 'write hole, bitmap alone' --bitmap=internal
hole 'write hole, ppl' --consistency-policy=ppl
blank 5
attach 5
journal=$(member 5) hole 'write hole, journal device' --write-journal="$(member 5)"
