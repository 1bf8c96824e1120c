#!/bin/bash
# check: guests 2
# on demand: two guests take both processors for minutes
# Lunar's iSER initiator in guest 2 on its target in guest 1, over soft-RoCE: large and small requests; then the network
# drops everything for some seconds in the middle of a copy, longer than a keep-alive, and the copy goes on.
set -euo pipefail
me=$1 share=/mnt/host iqn=iqn.2026-01.org.lunar:lab portal=10.9.0.1:3260
rdma_on eth1 "10.9.0.$me"

if [[ $me == 1 ]]; then
    truncate -s 64M /tmp/disk0 /tmp/disk1
    serve file:/tmp/disk0 file:/tmp/disk1 --iser $portal --iqn $iqn --allow-anonymous
    touch $share/serving
    until has_written /tmp/disk1 4; do
        [[ ! -e $share/done ]] || die "guest 2 has ended"
        sleep 0.1
    done
    drop_all eth1
    written=$(mib_of /tmp/disk1)
    sleep 6
    drop_nothing eth1
    echo "the network dropped everything for 6 s at $written MiB"
    ((written < 12)) || die "too late"
    wait_for 300 test -e $share/done
    stop_serving
    head -c 16M /tmp/disk1 | sha256sum | cmp - $share/sum
    exit
fi

trap 'touch $share/done' EXIT
uri=iser://$portal/$iqn
wait_for 120 test -e $share/serving
dd if=/dev/urandom of=/tmp/data bs=1M count=16 status=none
head -c 4M /tmp/data >/tmp/large
lunar copy --verify /tmp/large $uri/0
head -c 512K /tmp/data >/tmp/small
lunar copy --verify --block-size 4KiB --qd 32 /tmp/small $uri/0
lunar copy $uri/0 /tmp/back
cmp -n $((4 << 20)) /tmp/large /tmp/back

lunar copy --verify --block-size 64KiB --qd 4 /tmp/data "$uri/1?keep-alive=2s&no-path-retry=queue" 2>&1 | tee /tmp/copy.log
grep -q 'is lost' /tmp/copy.log || die "the connection was not lost"
sha256sum </tmp/data >$share/sum
