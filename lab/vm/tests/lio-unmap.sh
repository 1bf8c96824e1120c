#!/bin/bash
# check: lio
# Disks of scsi_debug that unmap whole granules of eight blocks only and have no WRITE SAME with UNMAP (LBPU 1, LBPWS 0,
# LBPRZ 1), passed through by LIO: UNMAP leaves the ends of a range as they were. A gateway over such a disk zeroes each
# block of a WRITE SAME with UNMAP all the same. A RAID 5 of such disks has no UNMAP, and its parity stays true.
set -euo pipefail
: "${scratch:?}"
iqn=$1 port=$2
export LUNAR_CONFIG=$scratch/volumes.toml

guest "
modprobe scsi_debug add_host=4 per_host_store=1 dev_size_mb=64 unmap_granularity=8 lbpu=1 lbpws=0 lbpws10=0 lbprz=1
start_lio
lio_debug_disk disk0 0
lio_debug_disk disk1 1
lio_debug_disk disk2 2
lio_debug_disk disk3 3
lio_target $iqn pscsi_0/disk0 pscsi_0/disk1 pscsi_0/disk2 pscsi_0/disk3
lio_portal $iqn 127.0.0.1:$port
start_iscsid
"
uri() { echo "iscsi://127.0.0.1:$port/$iqn/$1"; }

step "the initiator promises no zeroes by UNMAP"
lunar info "$(uri 0)" --json >"$scratch/info"
cat "$scratch/info"
grep -q '"unmap"' "$scratch/info" || die "the disk has no UNMAP: is it as it should be?"
! grep -q unmap-zeroes "$scratch/info" || die "UNMAP is taken for zeroing"

# zeroes NAME DEVICE [--unmap]: serves a device; the guest fills 8 MiB of it, zeroes by WRITE SAME what is no whole
# granule, and reads.
zeroes() {
    local gateway
    step "$1"
    gateway=$(free_port)
    serve "$1" "$gateway" "$iqn.$1" "$2"
    guest "
        iscsi_login $iqn.$1 10.0.2.2:$gateway
        disk=\$(iscsi_disk 0)
        head -c 8M /dev/urandom >/tmp/expected
        dd if=/tmp/expected of=\$disk bs=1M oflag=direct status=none
        for range in '3 9' '21 4000' '4099 6003'; do
            set -- \$range
            sg_write_same --16 ${3-} --lba=\$1 --num=\$2 --in=/dev/zero --xferlen=512 \$disk
            dd if=/dev/zero of=/tmp/expected bs=512 seek=\$1 count=\$2 conv=notrunc status=none
        done
        echo 3 >/proc/sys/vm/drop_caches
        cmp -n \$((8 << 20)) /tmp/expected \$disk || die 'a block that was zeroed is not zero'
        iscsi_logout $iqn.$1 10.0.2.2:$gateway"
}

zeroes gateway "$(uri 0)" --unmap
stop gateway

volume=raid5:granules
lunar raid create "$volume" "$(uri 1)" "$(uri 2)" "$(uri 3)"
zeroes raid5 "$volume"
lunar raid scrub "$volume" || die "parity is wrong after an unmap"
stop raid5
