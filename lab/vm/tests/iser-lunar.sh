#!/bin/bash
# check: guest
# Lunar on both sides over soft-RoCE, with large and small requests; then libiscsi's iSER client on Lunar's target.
set -euo pipefail
iqn=iqn.2026-01.org.lunar:lab addr=10.8.0.1
uri=iser://$addr:3260/$iqn/0
rdma_net $addr
truncate -s 64M /tmp/disk
serve file:/tmp/disk --iser $addr:3260 --iqn $iqn --allow-anonymous
dd if=/dev/urandom of=/tmp/data bs=1M count=8 status=none
lunar copy --verify /tmp/data "$uri"
head -c 512K /tmp/data >/tmp/small
lunar copy --verify --block-size 4KiB --qd 32 /tmp/small "$uri"
cmp -n "$((8 << 20))" /tmp/data /tmp/disk

timeout 60 iscsi-inq "$uri" | grep -A 1 'Vendor:LUNAR'
timeout 60 iscsi-readcapacity16 "$uri" | grep 'Total size:67108864'
timeout 60 iscsi-perf -m 8 -b 8 -t 5 "$uri" | tr '\r' '\n' | grep 'iops average'
stop_serving
