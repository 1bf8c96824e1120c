#!/bin/bash
# check: lio
# A copy to LIO and back while it aborts every connection each second. LUNAR_LAB_CUTS is how many MiB: 1024 is what was
# meant (LUNAR_LAB_MEM=2560 then), and takes minutes without KVM.
set -euo pipefail
: "${scratch:?}"
iqn=$1 port=$2 mib=${LUNAR_LAB_CUTS:-128}

guest "
start_lio
lio_file disk /tmp/disk $mib
lio_target $iqn fileio_0/disk
lio_portal $iqn 127.0.0.1:$port
lio_set $iqn param/DefaultTime2Wait=0
lio_cut_often $iqn $port
"
random "$scratch/data" "$mib"
until (($(guest 'wc -l </tmp/cuts') > 2)); do # once, but on the fastest of machines
    lunar copy --verify "$scratch/data" "iscsi://127.0.0.1:$port/$iqn/0?data-digest=crc32c"
done
guest lio_cut_no_more
same "$scratch/data" /tmp/disk
