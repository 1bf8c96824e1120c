#!/bin/bash
# The strictest of settings: no unsolicited data, an R2T for each 16 KiB, PDUs of 8 KiB to the initiator and of
# 4 KiB from it. Sequences of several PDUs and bursts, with block sizes that do not divide by either.
set -euo pipefail
iqn=$1 portal=$2 lun=$3

start_iscsid
iscsi_login "$iqn" "$portal" default node.session.iscsi.ImmediateData=No node.session.iscsi.InitialR2T=Yes \
    node.session.iscsi.FirstBurstLength=16384 node.session.iscsi.MaxBurstLength=16384 \
    'node.conn[0].iscsi.MaxRecvDataSegmentLength=8192' 'node.conn[0].iscsi.MaxXmitDataSegmentLength=4096'
n=$(iscsi_session) session=/sys/class/iscsi_session/session connection=/sys/class/iscsi_connection/connection
expect ImmediateData "$session$n/immediate_data" 0
expect InitialR2T "$session$n/initial_r2t" 1
expect MaxBurstLength "$session$n/max_burst_len" 16384
expect MaxRecvDataSegmentLength "$connection$n:0/max_recv_dlength" 8192
expect MaxXmitDataSegmentLength "$connection$n:0/max_xmit_dlength" 4096
disk=$(iscsi_disk "$lun")
describe "$disk"
for shape in 512:512 4096:2048 20480:400 65536:128 1048576:8; do # SIZE:COUNT; up to 8 MiB
    size=${shape%:*} count=${shape#*:}
    dd if=/dev/urandom of=/tmp/data bs="$size" count="$count" status=none # new data, so that no pass sees old ones
    dd if=/tmp/data of="$disk" bs="$size" oflag=direct
    dd if="$disk" bs="$size" count="$count" iflag=direct | cmp - /tmp/data
    echo "$count blocks of $size verified"
done
iscsi_logout "$iqn" "$portal"
