#!/bin/bash
# The kernel's initiator at a LUN whose limit changes by reloads: commands, then bytes, then a limit of the initiator. fio
# never gets more than the limit, no command fails, and the LUN without a limit is faster.
# check: reload
set -euo pipefail
iqn=$1 portal=$2

# measure DISK KIND BLOCK-SIZE FIELD: what fio does in ten seconds, from its terse output
measure() {
    fio --minimal --name=limit --filename="$1" --rw="$2" --bs="$3" --iodepth=32 --ioengine=libaio --direct=1 --time_based \
        --runtime=10 --ramp_time=2 | cut -d';' -f"$4"
}
# at_most WHAT MEASURED LIMIT: the limit, and a tenth for its burst and for the times at which fio looks
at_most() {
    echo "$1: $2 of $3"
    (($2 >= 1 && $2 * 10 <= $3 * 11)) || die "$1 is not held"
}
read_iops=8 write_kib=48

start_iscsid
iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk 0) free=$(iscsi_disk 1)
at_most "400iops, reads of 4 KiB per second" "$(measure "$disk" randread 4k $read_iops)" 400
echo "without a limit: $(measure "$free" randread 4k $read_iops)"

echo "reload 2"
sleep 5
at_most "2MiB, KiB written per second" "$(measure "$disk" write 64k $write_kib)" 2048

echo "reload 3"
sleep 5
at_most "300iops of the initiator, reads of 4 KiB per second" "$(measure "$free" randread 4k $read_iops)" 300

if dmesg | grep -Eq 'I/O error|detected conn error|abort'; then die "a command failed"; fi
iscsi_logout "$iqn" "$portal"
