#!/bin/bash
# check: guest
# Lunar's iSER initiator on the kernel's target (LIO, ib_isert), over soft-RoCE: a file system is copied there and back;
# then a gateway serves the LUN over TCP to the kernel's initiator: ext4, fio --verify, clean fsck.
set -euo pipefail
iqn=iqn.2026-01.org.lunar:lio front=iqn.2026-01.org.lunar:lab addr=10.8.0.1
uri=iser://$addr:3260/$iqn/0
rdma_net $addr
start_lio
lio_file disk /tmp/disk 64
lio_target $iqn fileio_0/disk
lio_portal $iqn $addr:3260 iser
lunar info "$uri"

mkdir /tmp/tree
cp /usr/bin/* /tmp/tree 2>/dev/null || true
find /tmp/tree -size +400k -delete
truncate -s 48M /tmp/image
mkfs.ext4 -q -d /tmp/tree /tmp/image
lunar copy --verify /tmp/image "$uri"
cmp -n "$((48 << 20))" /tmp/image /tmp/disk
lunar copy "$uri" /tmp/back
cmp /tmp/back /tmp/disk

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
