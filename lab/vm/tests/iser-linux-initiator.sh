#!/bin/bash
# check: guest
# The kernel's iSER initiator (ib_iser) on Lunar's target, over soft-RoCE: ext4, fio --verify, log out, log in.
set -euo pipefail
iqn=iqn.2026-01.org.lunar:lab addr=10.8.0.1 portal=10.8.0.1:3260
rdma_net $addr
serve ram:256MiB --iser $portal --iqn $iqn --allow-anonymous
start_iscsid
modprobe ib_iser
iscsi_login $iqn $portal iser
iscsiadm -m session -P 1 | grep -E 'Iface Transport|Connection State'
disk=$(iscsi_disk 0)
describe "$disk"
mkfs.ext4 -q "$disk"
mount "$disk" /mnt
fio --name=v --directory=/mnt --size=12M --rw=randwrite --bsrange=4k-256k --ioengine=libaio --iodepth=16 --direct=1 \
    --verify=crc32c --verify_fatal=1 --do_verify=1 --randrepeat=0 --output-format=terse --terse-version=3 | cut -d';' -f1-9
dd if=/dev/urandom of=/mnt/file bs=1M count=8 conv=fsync status=none
sha256sum /mnt/file >/tmp/sum
umount /mnt
iscsi_logout $iqn $portal iser
iscsi_login $iqn $portal iser
mount "$(iscsi_disk 0)" /mnt
sha256sum -c /tmp/sum
umount /mnt
fsck.ext4 -fn "$(iscsi_disk 0)"
iscsi_logout $iqn $portal iser
stop_serving
