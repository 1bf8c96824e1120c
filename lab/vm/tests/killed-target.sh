#!/bin/bash
# The target is killed with SIGKILL and started again, several times, while fio writes and verifies: sessions recover by
# themselves, and nothing that was acknowledged is lost.
# check: kill 12
set -euo pipefail
iqn=$1 portal=$2 lun=$3

start_iscsid
iscsi_login "$iqn" "$portal" default 'node.conn[0].timeo.noop_out_interval=2' \
    'node.conn[0].timeo.noop_out_timeout=2' 'node.session.timeo.replacement_timeout=120'
disk=$(iscsi_disk "$lun")
fio --name=verify --filename="$disk" --ioengine=libaio --direct=1 --rw=randwrite --bs=4k-64k --iodepth=16 --size=192m \
    --verify=crc32c --verify_fatal=1 --do_verify=1 --verify_backlog=1024 --rate=6m --time_based --runtime=60 \
    --output-format=terse --output=/tmp/fio
recovered=$(dmesg | grep -c 'detected conn error' || true)
((recovered >= 2)) || die "the target was killed $recovered times, as the kernel saw it"
echo "verified through $recovered lost connections"
awk -F';' '{ print "wrote " $47 " KiB, read " $6 " KiB, error " $5 }' /tmp/fio
iscsi_logout "$iqn" "$portal"
