#!/bin/bash
# check: lio
# LIO asks for both digests and for CHAP, one way and both ways; wrong secrets are refused, in one line.
set -euo pipefail
: "${scratch:?}"
iqn=$1 port=$2
# Secrets of 16 bytes, in files as users should have them.
secret=lab-secret-16-by back=back-secret-16-b
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
guest 'dmesg | grep -o "Selected .* Algorithm" | sort | uniq -c'

step wrong
refused 'authentication failed' info "$(uri wrong "$both")"
refused 'authentication failed' info "iscsi://nobody@127.0.0.1:$port/$iqn/0?secret-file=$scratch/own$both"
refused 'authentication' info "iscsi://127.0.0.1:$port/$iqn/0"
refused 'initiator error' info "$(uri own "&header-digest=none")"

step mutual CHAP
guest "lio_chap $iqn lunar $secret target $back"
random "$scratch/data" 32
lunar copy --verify "$scratch/data" "$(uri own "$both&mutual-user=target&mutual-secret-file=$scratch/theirs")"
same "$scratch/data" /tmp/disk
refused 'prove' info "$(uri own "$both&mutual-user=target&mutual-secret-file=$scratch/wrong")"
refused 'authentication failed' info "$(uri wrong "$both&mutual-user=target&mutual-secret-file=$scratch/theirs")"
