#!/bin/bash
# on demand
# check: host
# check: seconds 900
# The newcomer's road: a fresh clone, the commands of its README, and a file system on the served disk, which the guest's
# kernel attaches; all in less than five minutes. Prints the time of each step. Maven finds in the user's repository what
# other builds have downloaded; with LUNAR_LAB_COLD=yes it begins with an empty one.
set -euo pipefail
: "${scratch:?}" "${lab:?}"
iqn=iqn.2026-11.org.lunar:disk most=300 # seconds
port=$(free_port)
portal=10.0.2.2:$port

# step_ended NAME: prints the time since the end of the last one.
last=0
step_ended() {
    printf '%4d s  %s\n' $((SECONDS - last)) "$1"
    last=$SECONDS
}

guest start_iscsid # has booted before the clock starts
[[ ${LUNAR_LAB_COLD-no} == no ]] || export MAVEN_OPTS=-Dmaven.repo.local=$scratch/repository
SECONDS=0

git clone -q "$lab/../.." "$scratch/clone"
cd "$scratch/clone"
step_ended "clone"

./lunar --version
step_ended "build, by the first ./lunar"

# The README's own line; the port is free here, and that of the line may not be.
line=$(grep -m 1 '^\./lunar serve file:' README.md)
line=${line%%#*}
start newcomer bash -c "exec $line --portal 127.0.0.1:$port"
await 60 is_serving newcomer
step_ended "$line"

./lunar discover "127.0.0.1:$port" | grep "$iqn"
step_ended "./lunar discover"

guest "
    iscsiadm -m discovery -t sendtargets -p $portal | grep $iqn
    iscsi_login $iqn $portal
    iscsi_disk 0"
step_ended "discovery and login by open-iscsi"

guest "
    mkdir -p /mnt/disk
    mkfs.ext4 -q \$(iscsi_disk 0)
    mount \$(iscsi_disk 0) /mnt/disk
    dd if=/dev/urandom of=/mnt/disk/file bs=1M count=64 status=none
    sha256sum /mnt/disk/file >/tmp/sum
    umount /mnt/disk"
step_ended "mkfs, mount, 64 MiB written"

guest "
    mount \$(iscsi_disk 0) /mnt/disk
    sha256sum -c /tmp/sum
    umount /mnt/disk
    iscsi_logout $iqn $portal"
step_ended "64 MiB read, logout"

stop newcomer
printf '%4d s  in all, at most %d\n' "$last" "$most"
((last <= most)) || die "too slow"
