#!/bin/bash
# check: guest
# Lunar's iSER target is killed with SIGKILL in mid-transfer and started again: the kernel's initiator recovers its session
# under fio --verify, and Lunar's goes on with a copy and its verification. Nothing that was acknowledged is lost.
set -euo pipefail
iqn=iqn.2026-01.org.lunar:lab addr=10.8.0.1 portal=10.8.0.1:3260
rdma_net $addr
truncate -s 64M /tmp/disk0 /tmp/disk1
serve_disks() { serve file:/tmp/disk0 file:/tmp/disk1 --iser $portal --iqn $iqn --allow-anonymous; }

# kill_at FILE MIB PROCESS: once so much has been written to the file, which the process must not have finished by then.
kill_at() {
    wait_for 120 has_written "$1" "$2"
    kill -0 "$3" || die "the transfer ended before the loss"
    kill -KILL "$serving"
    wait "$serving" 2>/dev/null || true
    echo "killed the target at $(mib_of "$1") MiB"
    serve_disks
}

serve_disks
dd if=/dev/urandom of=/tmp/data bs=1M count=16 status=none
"${lunar_command[@]}" copy --verify --block-size 64KiB --qd 4 /tmp/data "iser://$portal/$iqn/1?no-path-retry=queue" >/tmp/copy.log 2>&1 &
copy=$!
kill_at /tmp/disk1 2 $copy
wait $copy || { cat /tmp/copy.log; die "the copy ends with $?"; }
cat /tmp/copy.log
cmp -n $((16 << 20)) /tmp/data /tmp/disk1

start_iscsid
modprobe ib_iser
iscsi_login $iqn $portal iser node.session.timeo.replacement_timeout=120
fio --name=v --filename="$(iscsi_disk 0)" --size=16M --rw=randwrite --bsrange=4k-128k --ioengine=libaio --iodepth=16 \
    --direct=1 --verify=crc32c --verify_fatal=1 --do_verify=1 --randrepeat=0 --output-format=terse --terse-version=3 \
    >/tmp/fio.log 2>&1 &
fio=$!
kill_at /tmp/disk0 2 $fio
kill_at /tmp/disk0 8 $fio
wait $fio || { cat /tmp/fio.log; die "fio ends with $?"; }
cut -d';' -f1-9 /tmp/fio.log
(($(dmesg | grep -c 'detected conn error') >= 2)) || die "the kernel saw no loss"
iscsi_logout $iqn $portal iser
stop_serving
