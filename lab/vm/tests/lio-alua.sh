#!/bin/bash
# check: lio
# Two portal groups of LIO, each in a target port group of its own, whose access states change while a copy goes on over
# a session with each: data go where they should, and nobody sees an error.
set -euo pipefail
: "${scratch:?}"
iqn=$1 one=$2 two=$3

guest "
start_lio
lio_file disk /tmp/disk 128
for n in 1 2; do
    TPG=\$n lio_target $iqn fileio_0/disk
    TPG=\$n lio_group fileio_0/disk group\$n \$n $iqn 0
done
TPG=1 lio_portal $iqn 127.0.0.1:$one
TPG=2 lio_portal $iqn 127.0.0.1:$two
"
lunar discover "127.0.0.1:$one"

# states ONE TWO
states() {
    echo "states $1 and $2"
    guest "lio_access fileio_0/disk group1 $1; lio_access fileio_0/disk group2 $2"
}
# moves 0|1 0|1: whether data move by each group, after what was on its way, which takes a busy machine some seconds.
# Asking for states moves next to nothing.
moves() {
    local one two i
    for i in 1 2 3 4; do
        read -r one two < <(guest "
        sleep 1
        a=\$(TPG=1 lio_moved $iqn 0) b=\$(TPG=2 lio_moved $iqn 0)
        sleep 1.5
        echo \$((\$(TPG=1 lio_moved $iqn 0) - a)) \$((\$(TPG=2 lio_moved $iqn 0) - b))
        ")
        echo "MiB by group 1: $one, by group 2: $two"
        if [[ $((one > 1)) == "$1" && $((two > 1)) == "$2" ]]; then return; fi
    done
    die "that is not where data should move"
}

random "$scratch/data" 128
copies() {
    until [[ -e $scratch/enough ]]; do
        lunar copy --verify "$scratch/data" "iscsi://127.0.0.1:$one/$iqn/0?sessions=2&policy=round-robin" || return
    done
}
rm -f "$scratch/enough"
copies >"$scratch/copies" 2>&1 &
copying=$!
moves 1 1
states 2 0
moves 0 1
step the only group with active paths is in transition for two seconds
guest "echo 2000 >\$lio/core/fileio_0/disk/alua/group2/trans_delay_msecs"
states 2 1
moves 0 1
guest "echo 0 >\$lio/core/fileio_0/disk/alua/group2/trans_delay_msecs"
states 0 3
moves 1 0
states 1 0
moves 0 1
states 1 2
moves 1 0
states 0 0
moves 1 1
touch "$scratch/enough"
rc=0
wait "$copying" || rc=$?
cat "$scratch/copies"
((rc == 0)) || die "a copy ended with $rc"
same "$scratch/data" /tmp/disk
