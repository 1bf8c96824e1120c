#!/bin/bash
# check: lio
# LIO asks for both digests and for CHAP, one way and both ways, with each algorithm; wrong secrets are refused, in one
# line.
set -euo pipefail
: "${scratch:?}"
iqn=$1 port=$2
# Secrets of 16 bytes, in files as users should have them.
secret=lab-secret-16-by back=back-secret-16-b
umask 077 # secret files that others can read are warned of
printf '%s\n' "$secret" >"$scratch/own"
printf '%s\n' "$back" >"$scratch/theirs"
printf '%s\n' "wrong-secret-16b" >"$scratch/wrong"
uri() { echo "iscsi://lunar@127.0.0.1:$port/$iqn/0?secret-file=$scratch/$1${2-}"; }
both="&header-digest=crc32c&data-digest=crc32c"

guest "
start_lio
lio_file disk /tmp/disk 64
lio_target $iqn fileio_0/disk
lio_portal $iqn 127.0.0.1:$port
lio_set $iqn param/HeaderDigest=CRC32C param/DataDigest=CRC32C
lio_chap $iqn lunar $secret
mount -t debugfs debugfs /sys/kernel/debug
echo 'file iscsi_target_auth.c +p' >/sys/kernel/debug/dynamic_debug/control
"
random "$scratch/data" 32

step one-way CHAP, digests
lunar copy --verify "$scratch/data" "$(uri own "$both")"
same "$scratch/data" /tmp/disk
# selected NAME: LIO has chosen that algorithm, and it alone, since it was last asked.
selected() {
    guest 'dmesg -c' | sed -n 's/.*Selected \(.*\) Algorithm.*/\1/p' >"$scratch/selected"
    sort -u "$scratch/selected"
    [[ $(sort -u "$scratch/selected") == "$1" ]] || die "that is not $1"
}

step algorithms
guest 'dmesg -C'
for name in md5 sha-1 sha-256 sha3-256; do
    lunar info "$(uri own "$both&chap-algorithms=$name")" >/dev/null
    case $name in sha3*) selected "$name" ;; *) selected "${name/-/}" ;; esac
done
lunar info "$(uri own "$both")" >/dev/null # the best that both know
selected sha3-256

step wrong
refused 'authentication failed' info "$(uri wrong "$both")"
refused 'authentication failed' info "iscsi://nobody@127.0.0.1:$port/$iqn/0?secret-file=$scratch/own$both"
refused 'authentication' info "iscsi://127.0.0.1:$port/$iqn/0"
refused 'initiator error' info "$(uri own "&header-digest=none")"

step mutual CHAP
guest "lio_chap $iqn lunar $secret target $back; dmesg -C"
random "$scratch/data" 32
theirs="$both&chap-algorithms=sha-256&mutual-user=target&mutual-secret-file=$scratch"
lunar copy --verify "$scratch/data" "$(uri own "$theirs/theirs")"
selected sha256
same "$scratch/data" /tmp/disk
refused 'failed to authenticate itself' info "$(uri own "$theirs/wrong")"
refused 'authentication failed' info "$(uri wrong "$theirs/theirs")"
