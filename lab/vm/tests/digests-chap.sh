#!/bin/bash
# CHAP refuses who does not know the secret; with it and both digests, data come back as written.
# check: chap
set -euo pipefail
iqn=$1 portal=$2 lun=$3 user=$4 secret=$5 back_user=$6 back_secret=$7
auth=(node.session.auth.authmethod=CHAP "node.session.auth.username=$user")
back=("node.session.auth.username_in=$back_user")

# refused STATUS SETTING...: open-iscsi ends with 24 for a login that the target refused, with 19 where the target
# did not prove itself. Any other failure proves nothing.
refused() {
    local rc=0
    iscsi_login "$iqn" "$portal" default "${@:2}" || rc=$?
    iscsiadm -m node -T "$iqn" -p "$portal" -o delete
    [[ $rc == "$1" ]] || die "login ends with $rc, not $1: ${*:2}"
}

start_iscsid
refused 24 node.session.auth.authmethod=None
refused 24 "${auth[@]}" node.session.auth.password=not-the-secret-16
refused 24 "${auth[@]}" node.session.auth.username=somebody "node.session.auth.password=$secret"
auth+=("node.session.auth.password=$secret")
refused 19 "${auth[@]}" "${back[@]}" node.session.auth.password_in=not-the-targets-16
auth+=("${back[@]}" "node.session.auth.password_in=$back_secret")

iscsi_login "$iqn" "$portal" default "${auth[@]}" 'node.conn[0].iscsi.HeaderDigest=CRC32C' \
    'node.conn[0].iscsi.DataDigest=CRC32C'
connection=/sys/class/iscsi_connection/connection$(iscsi_session):0
expect HeaderDigest "$connection/header_digest" 1
expect DataDigest "$connection/data_digest" 1
disk=$(iscsi_disk "$lun")
describe "$disk"
dd if=/dev/urandom of=/tmp/data bs=1M count=16 status=none
dd if=/tmp/data of="$disk" bs=256k oflag=direct
dd if="$disk" bs=128k count=128 iflag=direct | cmp - /tmp/data
# A digest covers the padding too: lengths that are no multiple of four come from answers such as sense and INQUIRY.
sg_inq --len=37 "$disk" >/dev/null
iscsi_logout "$iqn" "$portal"
