#!/bin/bash
# The commands that sg3-utils can send, on two sessions to one LUN where others must hear of it.
set -euo pipefail
trap 'echo "failed: $BASH_COMMAND"' ERR
iqn=$1 portal=$2 lun=$3

start_iscsid
for i in a b; do
    iscsiadm -m iface -I $i -o new >/dev/null
    iscsiadm -m iface -I $i -o update -n iface.initiatorname -v "iqn.2026-01.org.lunar:guest-$i" >/dev/null
done
iscsi_login "$iqn" "$portal" a
one=$(iscsi_disk "$lun") small=$(iscsi_disk $((lun + 1)))
iscsi_login "$iqn" "$portal" b
two=$(iscsi_disk "$lun")
# ready DISK...: takes the unit attentions that are pending.
ready() {
    local disk
    for disk; do wait_for 5 is_ready "$disk"; done
}
is_ready() { sg_turs "$1" >/dev/null 2>&1; }
ready "$one" "$two" "$small"

# refused COMMAND...: it must fail.
refused() {
    if "$@" >/tmp/refused 2>&1; then die "this should fail: $*"; fi
}
step() { echo "--- $*"; }
generic() { echo "/dev/$(basename "/sys/block/${1##*/}"/device/scsi_generic/*)"; }
blocks() { dd if="$1" bs=512 skip="$2" count="$3" iflag=direct status=none; }

step sg_opcodes
sg_opcodes -q "$one" | tail -n +2 | sort >/tmp/opcodes
for name in 'Read(16)' 'Write(16)' 'Unmap' 'Compare and write' 'Extended copy' 'Persistent reserve out' 'Sanitize'; do
    grep -qF "$name" /tmp/opcodes || die "sg_opcodes does not list $name"
done
sg_opcodes --tmf "$one"
sg_opcodes --opcode=0x8a "$one"

step sg_rtpg
sg_rtpg -v "$one"
sg_rtpg --extended "$one"

step sg_vpd
for page in sv sn di ei mas mpp sp bl bdc lbpv tpc; do sg_vpd -q -p $page "$one" >/dev/null || die "no page $page"; done
sg_inq -d "$one" >/dev/null || true

step sg_modes and sg_wr_mode
sg_modes -a "$one" >/tmp/modes
sg_modes -6 --page=8 "$one"
sg_logs -l "$one"
sg_luns --select=2 "$one"
sg_get_lba_status --lba=0 "$one"

step sg_persist
persist() { sg_persist --no-inquiry "$@"; }
persist --out --register --param-sark=0xa1 "$one"
persist --out --register --param-sark=0xb2 "$two"
persist --in --read-keys "$one" | tee /tmp/keys
grep -q 0xa1 /tmp/keys && grep -q 0xb2 /tmp/keys
persist --out --reserve --param-rk=0xa1 --prout-type=1 "$one"
refused dd if=/dev/zero of="$two" bs=512 count=1 oflag=direct
blocks "$two" 0 1 >/dev/null # write exclusive lets others read
persist --out --preempt --param-rk=0xb2 --param-sark=0xa1 --prout-type=3 "$two"
persist --in --read-reservation "$two" | tee /tmp/holder
grep -q 'Exclusive Access' /tmp/holder
persist --in --read-full-status "$two"
persist --in --report-capabilities "$two"
refused dd if="$one" of=/dev/null bs=512 count=1 iflag=direct
persist --out --preempt-abort --param-rk=0xb2 --param-sark=0xb2 --prout-type=3 "$two" || true
persist --out --register-ignore --param-sark=0xc3 "$one"
persist --out --clear --param-rk=0xb2 "$two"
ready "$one"
persist --in --read-keys "$one" | grep -qi 'no registered' || die "keys after a clear"
ready "$one" "$two"

step sg_write_same
yes lunar | head -c 4096 >/tmp/block || true
dd if=/tmp/block of="$one" bs=4096 seek=100 count=1 oflag=direct status=none
head -c 512 /tmp/block >/tmp/sector
sg_write_same --16 --lba=2048 --num=64 --in=/tmp/sector "$one"
for _ in {1..64}; do cat /tmp/sector; done >/tmp/same
blocks "$one" 2048 64 | cmp - /tmp/same
sg_write_same --16 --unmap --lba=2048 --num=64 --in=/dev/zero --xferlen=512 "$one"
blocks "$one" 2048 64 | cmp -n 32768 - /dev/zero
sg_write_same --16 --ndob --lba=2048 --num=8 "$one"

step sg_unmap
dd if=/tmp/block of="$one" bs=4096 seek=512 count=1 oflag=direct status=none
sg_unmap --force --lba=4096 --num=8 "$one"
blocks "$one" 4096 8 | cmp -n 4096 - /dev/zero

step sg_compare_and_write
head -c 512 /dev/zero >/tmp/zero
cat /tmp/zero /tmp/sector >/tmp/both
sg_compare_and_write --in=/tmp/both --lba=8192 --num=1 --xferlen=1024 "$one"
blocks "$two" 8192 1 | cmp - /tmp/sector
refused sg_compare_and_write --in=/tmp/both --lba=8192 --num=1 --xferlen=1024 "$one"

step sg_verify
sg_verify --16 --lba=8192 --count=1 "$one"
sg_verify --16 --lba=8192 --count=1 --ebytchk=1 --ndo=512 --in=/tmp/sector "$one"
refused sg_verify --16 --lba=8192 --count=1 --ebytchk=1 --ndo=512 --in=/tmp/zero "$one"

step sg_xcopy
dd if=/dev/urandom of=/tmp/random bs=64k count=16 status=none
dd if=/tmp/random of="$one" bs=64k seek=64 oflag=direct status=none
sg_xcopy if="$(generic "$one")" skip=8192 of="$(generic "$small")" seek=1024 count=2048 bs=512
blocks "$small" 1024 2048 | cmp - /tmp/random

step sg_reset and others
sg_readcap --16 "$one"
sg_prevent --prevent=0 "$one"
sg_sync --lba=0 --count=8 "$one"
sg_senddiag --test "$one"
sg_read_buffer --mode=3 "$one" >/dev/null
sg_reset --device "$one" || sg_reset --target "$one"
ready "$one" "$two"

step sg_sanitize
dd if=/tmp/random of="$small" bs=64k oflag=direct status=none
sg_sanitize --block --quick --wait "$small"
blocks "$small" 0 2048 | cmp -n 1048576 - /dev/zero
sg_format --format --quick --wait "$small" || sg_format --format --quick "$small"

iscsi_logout "$iqn" "$portal" a
iscsi_logout "$iqn" "$portal" b
