#!/bin/bash
# Ten thousand files on ext4 survive a log out: a clean fsck, and every byte back.
set -euo pipefail
iqn=$1 portal=$2 lun=$3
files=10000

start_iscsid
iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk "$lun")
describe "$disk"
mkfs.ext4 -q "$disk"
mount "$disk" /mnt
# The shell alone writes the files, since a fork for each takes a minute without KVM. Each is its number and a part of
# one text of pseudo-random digits (a Lehmer generator, the same at each run): 15 to 4 KiB, then one to 64 KiB. The
# small ones come from pieces, since the shell copies all of a string to cut a part of it.
LC_ALL=C
blob=$(awk 'BEGIN { x = 7; for (i = 0; i < 12800; i++) { x = x * 16807 % 2147483647; printf "%010d", x } }')
for ((i = 0; i < 31; i++)); do pieces[i]=${blob:i * 4096:4096}; done
mkdir -p /mnt/{0..9}/{0..9}
x=1
for ((i = 0; i < files; i++)); do
    x=$((x * 16807 % 2147483647))
    if ((i % 16)); then part=${pieces[x % 31]:0:x % 4097}; else part=${blob:x % 62000:x % 65537}; fi
    printf '%d %s' "$i" "$part" >"/mnt/$((i % 10))/$((i / 10 % 10))/$i"
done
sync
sums /mnt >/tmp/sums
[[ $(wc -l </tmp/sums) == "$files" ]] || die "$(wc -l </tmp/sums) files instead of $files"
df -h /mnt
umount /mnt
iscsi_logout "$iqn" "$portal"

iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk "$lun")
fsck.ext4 -fn "$disk"
mount -o ro "$disk" /mnt
(cd /mnt && sha256sum --quiet -c /tmp/sums)
echo "$files files verified"
umount /mnt
iscsi_logout "$iqn" "$portal"
