#!/bin/bash
# In the guest: dm-multipath over two portals, and how long its writes stall.
#   IQN PORTAL SECOND-PORTAL LUN PING-INTERVAL PING-TIMEOUT FAST-IO-FAIL
set -euo pipefail
iqn=$1 lun=$4
start_udev
start_iscsid "iqn.2026-01.org.lunar:failover-$5"
modprobe -a dm_multipath dm_service_time
printf '%s\n' 'defaults {' 'user_friendly_names yes' 'find_multipaths no' 'polling_interval 2' 'no_path_retry 60' \
    'path_grouping_policy multibus' "fast_io_fail_tmo $7" '}' >/etc/multipath.conf
multipathd
wait_for 20 multipathd show daemon >/dev/null
for portal in "$2" "$3"; do
    iscsi_login "$iqn" "$portal" default "node.conn[0].timeo.noop_out_interval=$5" "node.conn[0].timeo.noop_out_timeout=$6"
done
disk=$(iscsi_disk "$lun")
has_map() { compgen -G "/sys/block/${disk##*/}/holders/*" >/dev/null; }
wait_for 30 has_map
map=$(basename "/sys/block/${disk##*/}"/holders/*) # by number: udev may not have made the name yet
both() { (($(compgen -G "/sys/block/$map/slaves/*" | wc -l) == 2)); }
wait_for 60 both
exec /opt/jdk/bin/java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp /opt/probe Stalls "/dev/$map"
