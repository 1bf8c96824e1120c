#!/bin/bash
# check: guest
# Lunar's iSER initiator on the kernel's target (LIO, ib_isert), over soft-RoCE: a file system is copied there and back;
# a copy loses its connection twice, when LIO's portal group is disabled for some seconds; then a gateway serves the LUN
# over TCP to the kernel's initiator: ext4, fio --verify, clean fsck.
set -euo pipefail
iqn=iqn.2026-01.org.lunar:lio front=iqn.2026-01.org.lunar:lab addr=10.8.0.1
uri=iser://$addr:3260/$iqn/0
rdma_net $addr
start_lio
lio_file disk /tmp/disk 64
lio_file other /tmp/other 64
lio_target $iqn fileio_0/disk fileio_0/other
lio_portal $iqn $addr:3260 iser
lunar info "$uri"

mkdir /tmp/tree
cp /usr/bin/* /tmp/tree 2>/dev/null || true
find /tmp/tree -size +100k -delete
truncate -s 24M /tmp/image
mkfs.ext4 -q -d /tmp/tree /tmp/image
lunar copy --verify /tmp/image "$uri"
cmp -n "$((24 << 20))" /tmp/image /tmp/disk
lunar copy "$uri" /tmp/back
cmp /tmp/back /tmp/disk

dd if=/dev/urandom of=/tmp/data bs=1M count=16 status=none
lunar copy --verify --block-size 64KiB --qd 4 /tmp/data "iser://$addr:3260/$iqn/1?no-path-retry=queue" >/tmp/copy.log 2>&1 &
copy=$!
for mib in 2 8; do
    wait_for 60 has_written /tmp/other $mib
    kill -0 $copy || die "the copy ended before the loss"
    echo 0 >"$lio/iscsi/$iqn/tpgt_1/enable"
    echo "disabled the portal group at $(mib_of /tmp/other) MiB"
    sleep 3
    echo 1 >"$lio/iscsi/$iqn/tpgt_1/enable"
done
wait $copy || { cat /tmp/copy.log; die "the copy ends with $?"; }
cat /tmp/copy.log
(($(grep -c 'is lost' /tmp/copy.log) >= 2)) || die "the connection was not lost"
cmp -n $((16 << 20)) /tmp/data /tmp/other

serve "$uri" --portal 127.0.0.1:3261 --iqn $front
start_iscsid
iscsi_login $front 127.0.0.1:3261
disk=$(iscsi_disk 0)
mkfs.ext4 -qF "$disk"
mount "$disk" /mnt
fio --name=v --directory=/mnt --size=16M --rw=randwrite --bsrange=4k-256k --ioengine=libaio --iodepth=16 --direct=1 \
    --verify=crc32c --verify_fatal=1 --do_verify=1 --randrepeat=0 --output-format=terse --terse-version=3 | cut -d';' -f1-9
umount /mnt
fsck.ext4 -fn "$disk"
iscsi_logout $front 127.0.0.1:3261
stop_serving
fsck.ext4 -fn /tmp/disk
