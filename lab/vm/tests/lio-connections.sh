#!/bin/bash
# check: lio
# Sessions of four connections with LIO, one of which is aborted each second. Below error recovery level 2 LIO ends a
# session with a connection that is lost, unless a logout for it is quicker, and it is made anew; at level 2 tasks of a
# lost connection go on by another, and the session stays the same.
set -euo pipefail
: "${scratch:?}"
iqn=$1 port=$2 host=iqn.2026-01.org.lunar:host
uri="iscsi://127.0.0.1:$port/$iqn/0?initiator=$host&connections=4"

guest "
lio_mend
start_lio
lio_file disk /tmp/disk 256
lio_target $iqn fileio_0/disk
lio_portal $iqn 127.0.0.1:$port
lio_set $iqn param/MaxConnections=4 param/DefaultTime2Wait=0
lio_host $iqn $host
"
random "$scratch/data" 256 # some ten seconds, of which several cuts are to fall into

# copying MORE: begins a verified copy; it ends in copied.
copying() {
    lunar copy --verify "$scratch/data" "$uri$1" >"$scratch/copy" 2>&1 &
    copy=$!
    guest "wait_for 20 lio_has_connections $iqn $host 4"
}
copied() {
    local rc=0
    wait "$copy" || rc=$?
    cat "$scratch/copy"
    ((rc == 0)) || die "the copy ended with $rc"
    same "$scratch/data" /tmp/disk
    guest "truncate -s 0 /tmp/disk; truncate -s 256M /tmp/disk" # so that the next is seen
}
# session: what LIO calls it, or nothing.
session() { guest "lio_session $iqn $host"; }
# session_after_cuts: the same after three cuts, or at the end of the copy.
session_after_cuts() {
    guest "
    for _ in {1..40}; do
        sleep 0.5
        now=\$(lio_session $iqn $host)
        [[ -n \$now ]] || break
        last=\$now
        ((\$(wc -l </tmp/cuts) < 3)) || break
    done
    echo \${last-none}
    "
}
cuts() {
    local many
    many=$(guest lio_cut_no_more)
    echo "$many"
    ((${many%% *} > 1)) || die "that is too little to show anything"
}

step four connections
copying ''
copied

step one is lost each second, error recovery level 0
copying '&error-recovery-level=0'
guest "lio_cut_often $iqn $port 1"
copied
cuts

step the same, level 2
guest "echo 2 >\$lio/iscsi/$iqn/tpgt_1/acls/$host/attrib/default_erl"
copying '&error-recovery-level=2&data-digest=crc32c'
before=$(session)
guest "lio_cut_often $iqn $port 1"
after=$(session_after_cuts)
echo "session $before, after cuts $after"
[[ -n $before && $after == "$before" ]] || die "it is another session than before"
copied
cuts
guest '! dmesg | grep -E "BUG|Oops|refcount"' || die "LIO has fallen over"
