#!/bin/bash
# XFS on the disk, with half of a tree deleted and discarded: the other half is whole after a log out.
set -euo pipefail
iqn=$1 portal=$2 lun=$3

modprobe xfs
start_iscsid
iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk "$lun")
describe "$disk"
mkfs.xfs -q -f "$disk"
mount "$disk" /mnt
cp -a /usr/lib/modules /usr/sbin /mnt # some thousand files, 100 MB
sync
rm -r /mnt/modules/*/kernel/fs /mnt/sbin/[a-m]*
if (($(<"/sys/block/${disk##*/}/queue/discard_max_bytes"))); then
    fstrim -v /mnt
else
    echo "the disk has no discard"
fi
sums /mnt >/tmp/sums
umount /mnt
iscsi_logout "$iqn" "$portal"

iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk "$lun")
xfs_repair -n "$disk"
mount -o ro "$disk" /mnt
(cd /mnt && sha256sum --quiet -c /tmp/sums)
echo "$(wc -l </tmp/sums) files verified"
umount /mnt
iscsi_logout "$iqn" "$portal"
