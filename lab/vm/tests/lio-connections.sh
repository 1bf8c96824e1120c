#!/bin/bash
# check: lio
# Sessions of four connections with LIO, over two portals. At ErrorRecoveryLevel 0 the loss of one is that of all, and
# the session is made anew; at level 2 an idle connection is lost and replaced, and the session stays the same.
set -euo pipefail
: "${scratch:?}"
iqn=$1 one=$2 two=$3
uri="iscsi://127.0.0.1:$one/$iqn/0?connections=4"

guest "
start_lio
lio_file disk /tmp/disk 128
lio_target $iqn fileio_0/disk
lio_portal $iqn 127.0.0.1:$one
lio_portal $iqn 127.0.0.1:$two
lio_set $iqn param/MaxConnections=4 param/DefaultTime2Wait=0
"
connections() { guest "ss -Htn state established '( sport = :$one or sport = :$two )' | wc -l"; }
# sessions: how many LIO knows; failed: how many were lost since it began.
sessions() { guest "cat \$lio/iscsi/$iqn/fabric_statistics/iscsi_instance/sessions"; }
failed() { guest "cat \$lio/iscsi/$iqn/fabric_statistics/iscsi_instance/fail_sess"; }
copying() {
    lunar copy --verify "$scratch/data" "$1" >"$scratch/copy" 2>&1 &
    copy=$!
}
copied() {
    local rc=0
    wait "$copy" || rc=$?
    cat "$scratch/copy"
    ((rc == 0)) || die "the copy ended with $rc"
    same "$scratch/data" /tmp/disk
}
