#!/bin/bash
# The target's config file changes under a session that writes and reads all the time: the disk grows, one LUN goes,
# another comes; then a file with a mistake changes nothing; then the portal moves, and the session with it.
# check: portals 2
# check: reload
set -euo pipefail
iqn=$1 portal=$2 second=$8

size() { blockdev --getsize64 "$1"; }
has_size() { echo 1 >"/sys/block/${1##*/}/device/rescan" && (($(size "$1") == $2)); }
told() { dmesg | grep -q "$1"; }
rounds() { cat /tmp/rounds; }
more_rounds() { (($(rounds) >= $1)); }
# The tail of the disk is not written until it has grown.
write_on() {
    local n=0
    until [[ -e /tmp/enough ]]; do
        dd if=/tmp/data of="$1" bs=64k oflag=direct conv=notrunc status=none
        dd if="$1" bs=64k count=256 iflag=direct status=none | cmp - /tmp/data
        n=$((n + 1))
        echo $n >/tmp/rounds
    done
}
through() { ss -Htn state established dst "${1%:*}" dport = ":${1#*:}" | grep -q .; }
lun_is_gone() { ! timeout 20 dd if="$1" of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null; }

start_iscsid
iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk 0) going=$(iscsi_disk 1) session=$(iscsi_session)
(($(size "$disk") == 256 << 20)) || die "$disk is $(size "$disk") bytes large"
dd if=/dev/urandom of=/tmp/data bs=1M count=16 status=none
echo 0 >/tmp/rounds
write_on "$disk" & writer=$!
wait_for 60 more_rounds 1

echo "reload 2"
wait_for 60 told 'Capacity data has changed'
wait_for 60 told 'LUN assignments on this target have changed'
wait_for 30 has_size "$disk" $((512 << 20))
wait_for 30 lun_is_gone "$going"
iscsiadm -m session -r "$session" --rescan >/dev/null
new=$(iscsi_disk 2)
(($(size "$new") == 32 << 20)) || die "$new is $(size "$new") bytes large"
dd if=/tmp/data of="$disk" bs=1M seek=496 oflag=direct conv=notrunc status=none
dd if="$disk" bs=1M skip=496 iflag=direct status=none | cmp - /tmp/data
echo "grown, one LUN gone, another there; $(rounds) rounds"

echo "reload 3"
wait_for 60 more_rounds $(($(rounds) + 2))
(($(size "$new") == 32 << 20))
if told 'detected conn error'; then die "the session was dropped"; fi

echo "reload 4"
wait_for 60 through "$second"
wait_for 60 more_rounds $(($(rounds) + 2))
if through "$portal"; then die "still at the first portal"; fi
echo "moved to the other portal; $(rounds) rounds"

touch /tmp/enough
wait $writer
iscsi_logout "$iqn" "$portal"
