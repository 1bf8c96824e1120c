#!/bin/bash
# Two initiators write at once, to a LUN each. The connection of the first falls silent, and it logs in again while
# the target still holds its old session: it must be let in, lose nothing, and the second must not notice. Then the
# first logs out while the second writes on.
set -euo pipefail
iqn=$1 portal=$2 lun=$3
mib=32

# local_ports: the guest's end of each connection.
local_ports() {
    ss -Htn state established dst "${portal%:*}" dport = ":${portal#*:}" | awk '{ sub(/.*:/, "", $3); print $3 }'
}
write() { timeout 120 dd if="/tmp/$1" of="$2" bs=64k oflag=direct status=none; }
write_on() { # until told that it is enough
    local n=0
    until [[ -e /tmp/enough ]]; do
        write "$@"
        n=$((n + 1))
    done
    echo "$1: written $n times"
}
verify() {
    dd if="$2" bs=128k count=$((mib * 8)) iflag=direct status=none | cmp - "/tmp/$1"
    echo "$1: $mib MiB verified"
}
written() { # written DISK MIB: whether that much was written since the start
    local stat
    read -ra stat <"/sys/block/${1##*/}/stat"
    ((stat[6] >= $2 * 2048))
}

start_iscsid
for i in a b; do
    iscsiadm -m iface -I $i -o new >/dev/null
    iscsiadm -m iface -I $i -o update -n iface.initiatorname -v "iqn.2026-01.org.lunar:guest-$i" >/dev/null
done
# A silent connection is given up after 4 s.
quick=('node.conn[0].timeo.noop_out_interval=2' 'node.conn[0].timeo.noop_out_timeout=2')
iscsi_login "$iqn" "$portal" a "${quick[@]}"
a=$(iscsi_disk "$lun") port_a=$(local_ports)
iscsi_login "$iqn" "$portal" b "${quick[@]}"
b=$(iscsi_disk $((lun + 1))) port_b=$(local_ports | grep -vx "$port_a")
describe "$a"
describe "$b"
iscsiadm -m session -P 1 | grep -E 'SID|Iface Initiatorname'

for i in a b; do dd if=/dev/urandom of=/tmp/$i bs=1M count=$mib status=none; done
write a "$a" & writer_a=$!
write_on b "$b" & writer_b=$!
wait_for 60 written "$a" 4
cut_port sport "$port_a"
SECONDS=0
wait $writer_a
echo "the first was cut off and wrote the rest within $SECONDS s"
verify a "$a"
ports=$(local_ports)
grep -qx "$port_b" <<<"$ports" || die "the second lost its connection too"
! grep -qx "$port_a" <<<"$ports" || die "the first still has its old connection"
mend_ports

iscsi_logout "$iqn" "$portal" a
touch /tmp/enough
wait $writer_b
verify b "$b"
iscsi_logout "$iqn" "$portal" b
