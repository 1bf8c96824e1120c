#!/bin/bash
# dm-multipath over two portals: one is cut while data are written, then restored; nothing is lost, and both paths serve
# at the end.
# check: portals 2
set -euo pipefail
iqn=$1 first=$2 lun=$3 second=$8
quick=('node.conn[0].timeo.noop_out_interval=2' 'node.conn[0].timeo.noop_out_timeout=2'
    'node.session.timeo.replacement_timeout=5')

paths() { multipathd show paths raw format '%d %t %o' | grep -c "$1" || true; }
have() { (($(paths "$1") == $2)); }

start_udev
start_iscsid
start_multipathd
iscsi_login "$iqn" "$first" default "${quick[@]}"
iscsi_login "$iqn" "$second" default "${quick[@]}"
iscsi_disk "$lun" >/dev/null
map_there() { compgen -G '/dev/mapper/mpath*' >/dev/null; }
wait_for 30 map_there
multipath -ll
map=''
for m in /dev/mapper/mpath*; do # the file of 1 GiB
    (($(blockdev --getsize64 "$m") == 1 << 30)) && map=$m
done
[[ -n $map ]] || die "no map of 1 GiB"
wait_for 20 have 'active' 4 # two LUNs, two paths

dd if=/dev/urandom of=/tmp/data bs=1M count=64 status=none
dd if=/tmp/data of="$map" bs=64k oflag=direct status=none & writer=$!
sleep 1
cut_port dport "${first#*:}"
wait $writer
echo "written with one path cut"
wait_for 30 have 'failed' 2
dd if="$map" bs=64k count=1024 iflag=direct status=none | cmp - /tmp/data
mend_ports
wait_for 60 have 'active' 4
echo "both paths are back"
cut_port dport "${second#*:}"
dd if="$map" bs=64k count=1024 iflag=direct status=none | cmp - /tmp/data
mend_ports
wait_for 60 have 'active' 4
multipath -ll
multipathd shutdown >/dev/null || true
multipath -F || true
iscsi_logout "$iqn" "$first"
iscsi_logout "$iqn" "$second"
