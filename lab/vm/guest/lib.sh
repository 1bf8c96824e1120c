# Helpers for guest scripts, there from the start in every script that `run` runs.
# shellcheck shell=bash

die() { echo "$*" >&2; exit 1; }

# wait_for SECONDS COMMAND...: tries five times a second.
wait_for() {
    local i
    for ((i = $1 * 5; i > 0; i--)); do
        "${@:2}" && return
        sleep 0.2
    done
    die "gave up after $1 s: ${*:2}"
}

# mib_of FILE: how much of it has been written. has_written FILE MIB: whether so much has.
mib_of() { echo $(($(stat -c %b "$1") / 2048)); }
has_written() { (($(mib_of "$1") >= $2)); }

# expect NAME FILE VALUE: what sysfs says was negotiated.
expect() {
    local is
    is=$(<"$2")
    [[ $is == "$3" ]] || die "$1 is $is, not $3"
    echo "$1=$is"
}

# sums DIR: the checksum of each file below it. A process reads many files: forks are slow without KVM.
sums() { (cd "$1" && find . -type f -print0 | xargs -0 sha256sum); }

# --- kernel initiator (open-iscsi) ---

start_iscsid() {
    modprobe -a iscsi_tcp sd_mod sg crc32c
    mkdir -p /run/lock/iscsi
    echo "InitiatorName=${1:-iqn.2026-01.org.lunar:guest}" >/etc/iscsi/initiatorname.iscsi
    iscsid
    # /dev/sgN and /dev/disk/by-* need no udev here: devtmpfs makes the nodes, iscsi_disk finds the disk.
}

# iscsi_login IQN ADDR:PORT [default|iser|IFACE] [NAME=VALUE...]: a node record made by hand, since discovery
# through QEMU's user network advertises 127.0.0.1. The settings are those of a node record.
iscsi_login() {
    local record=(-m node -T "$1" -p "$2" -I "${3:-default}") setting
    iscsiadm "${record[@]}" -o new >/dev/null
    # Open-iscsi's own patience with a target that does not answer is many minutes.
    for setting in node.session.initial_login_retry_max=2 'node.conn[0].timeo.login_timeout=15' "${@:4}"; do
        iscsiadm "${record[@]}" -o update -n "${setting%%=*}" -v "${setting#*=}"
    done
    iscsiadm "${record[@]}" --login
}

# iscsi_logout IQN ADDR:PORT [IFACE]
iscsi_logout() { iscsiadm -m node -T "$1" -p "$2" -I "${3:-default}" --logout; }

# The number N of the newest session, as in /sys/class/iscsi_session/sessionN.
iscsi_session() { printf '%s\n' /sys/class/iscsi_session/session* | sed 's/.*session//' | sort -n | tail -n 1; }

# iscsi_disk LUN [SESSION]: the disk as /dev/sdX. The letters do not follow the LUN numbers.
iscsi_disk() {
    local session=${2:-$(iscsi_session)} glob disk
    glob="/sys/class/iscsi_session/session$session/device/target*/*:$1/block/*"
    wait_for 30 compgen -G "$glob" >/dev/null
    disk=$(compgen -G "$glob" | head -n 1)
    echo "/dev/${disk##*/}"
}

# describe DISK: what the kernel and sg3-utils see of it. Only the pages every disk must have are insisted on.
describe() {
    local queue=/sys/block/${1##*/}/queue
    lsscsi -s | grep -F "$1 "
    echo "blocks of $(<"$queue/logical_block_size"), discard up to $(<"$queue/discard_max_bytes") bytes"
    sg_inq "$1" | grep -E 'version|CmdQue'
    sg_vpd -q -p sv "$1"
    sg_vpd -q -p di "$1"
    sg_vpd -q -p bl "$1" | grep -E 'Maximum (transfer|unmap LBA|write same)' || true
    sg_vpd -q -p lbpv "$1" | grep LBP || true
}

# --- kernel target (LIO), through configfs ---

lio=/sys/kernel/config/target
start_lio() {
    modprobe -a target_core_mod target_core_file iscsi_target_mod
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    mkdir -p "$lio/iscsi" /etc/target/{pr,alua} # the latter for what LIO keeps: reservations (APTPL), ALUA states
}

# lio_mend, before start_lio: at ErrorRecoveryLevel 2 Linux (6.1.192, and others that count commands by connection) uses
# the counter of a lost connection after it was freed, when a task of it ends that was reassigned, and oopses. Here
# counters are never freed: target_free_cmd_counter returns at once (C3h behind the call for ftrace).
lio_mend() {
    local ko text at headers
    modprobe target_core_mod
    ko=$(modinfo -n target_core_mod)
    at=$((0x$(awk '$3 == "target_free_cmd_counter" { print $1 }' /proc/kallsyms) - $(</sys/module/target_core_mod/sections/.text)))
    rmmod target_core_mod
    headers=$(od -An -v -tu8 -j40 -N8 "$ko") # ELF: section headers, at its end but for a signature
    text=$(od -An -v -tu8 -w64 -j $((headers)) "$ko" | awk '$2 == 6 && !n++ { print $4 }') # the first with instructions
    head -c $((headers + 64 * $(od -An -v -tu2 -j60 -N2 "$ko"))) "$ko" >/tmp/target_core_mod.ko
    printf '\xc3' | dd of=/tmp/target_core_mod.ko bs=1 seek=$((text + at + 5)) conv=notrunc status=none
    insmod /tmp/target_core_mod.ko
}

# lio_ramdisk NAME MIB / lio_file NAME FILE MIB: a backstore under $lio/core. Without a serial number LIO answers with
# an empty list of VPD pages, and multipath sees no identity.
lio_ramdisk() {
    mkdir -p "$lio/core/rd_mcp_0/$1"
    echo "rd_pages=$(($2 * 256))" >"$lio/core/rd_mcp_0/$1/control"
    echo 1 >"$lio/core/rd_mcp_0/$1/enable"
    echo "$1" >"$lio/core/rd_mcp_0/$1/wwn/vpd_unit_serial"
}
lio_file() {
    truncate -s "$3M" "$2"
    mkdir -p "$lio/core/fileio_0/$1"
    echo "fd_dev_name=$2,fd_dev_size=$(($3 << 20))" >"$lio/core/fileio_0/$1/control"
    echo 1 >"$lio/core/fileio_0/$1/enable"
    echo "$1" >"$lio/core/fileio_0/$1/wwn/vpd_unit_serial"
}

# lio_debug_disk NAME N: the disk of the Nth host of scsi_debug, whose commands are passed through (pscsi_0/NAME).
lio_debug_disk() {
    local glob="/sys/devices/pseudo_0/adapter$2/host*/target*/*:0/block/*" disk host
    modprobe sd_mod
    wait_for 30 compgen -G "$glob" >/dev/null
    disk=$(compgen -G "$glob" | head -n 1)
    host=${disk#*/host}
    modprobe target_core_pscsi
    mkdir -p "$lio/core/pscsi_0/$1"
    echo "scsi_host_id=${host%%/*},scsi_channel_id=0,scsi_target_id=0,scsi_lun_id=0" >"$lio/core/pscsi_0/$1/control"
    echo "/dev/${disk##*/}" >"$lio/core/pscsi_0/$1/udev_path"
    echo 1 >"$lio/core/pscsi_0/$1/enable"
}

# lio_target IQN BACKSTORE...: an open target; the first backstore (as in rd_mcp_0/NAME) is LUN 0. With TPG=N it is portal
# group N of the target, in the calls below, too.
lio_target() {
    local tpg=$lio/iscsi/$1/tpgt_${TPG-1} attrib n=0 backstore
    mkdir -p "$tpg"
    for attrib in authentication=0 generate_node_acls=1 demo_mode_write_protect=0 cache_dynamic_acls=1; do
        echo "${attrib#*=}" >"$tpg/attrib/${attrib%=*}"
    done
    for backstore in "${@:2}"; do
        mkdir "$tpg/lun/lun_$n"
        ln -s "$lio/core/$backstore" "$tpg/lun/lun_$n/backstore"
        n=$((n + 1))
    done
    echo 1 >"$tpg/enable"
}

# lio_portal IQN ADDR:PORT [iser]: TCP, and with iser also RDMA at the same port. At 127.0.0.1 it is for the host, with
# the same port there (run --hostfwd PORT:127.0.0.1:PORT): what SendTargets tells is true on both sides then.
lio_portal() {
    local np=$lio/iscsi/$1/tpgt_${TPG-1}/np/$2
    [[ $2 != 127.* ]] || echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet
    mkdir "$np"
    if [[ ${3-} == iser ]]; then
        modprobe ib_isert
        echo 1 >"$np/iser"
    fi
}

# lio_set IQN FILE=VALUE...: as in param/MaxConnections=4 or attrib/default_erl=2 (param/ErrorRecoveryLevel says nothing).
lio_set() {
    local tpg=$lio/iscsi/$1/tpgt_${TPG-1} setting
    for setting in "${@:2}"; do
        printf %s "${setting#*=}" >"$tpg/${setting%%=*}"
        [[ $(tr -d '\0' <"$tpg/${setting%%=*}") == "${setting#*=}" ]] || die "LIO does not take $setting"
    done
}

# lio_host IQN HOST: an ACL of its own for an initiator, which sees LUN 0; LIO tells of its session then (acls/HOST/info).
lio_host() {
    local tpg=$lio/iscsi/$1/tpgt_${TPG-1}
    mkdir -p "$tpg/acls/$2/lun_0"
    ln -s "$tpg/lun/lun_0" "$tpg/acls/$2/lun_0/lun"
}

# lio_has_connections IQN HOST N: whether the session of a host has so many.
lio_has_connections() { [[ $(grep -c '^CID' "$lio/iscsi/$1/tpgt_${TPG-1}/acls/$2/info") == "$3" ]]; }

# lio_session IQN HOST: the number of the session of a host, if it has one.
lio_session() { sed -n 's/^LIO Session ID: *\([0-9]*\).*/\1/p' "$lio/iscsi/$1/tpgt_${TPG-1}/acls/$2/info"; }

# lio_chap IQN USER SECRET [TARGET-USER TARGET-SECRET]: asks for CHAP; with the latter it proves itself, too.
lio_chap() {
    lio_set "$1" auth/userid="$2" auth/password="$3" ${4:+auth/userid_mutual="$4" auth/password_mutual="$5"}
    lio_set "$1" attrib/authentication=1
}

# lio_group BACKSTORE NAME NUMBER IQN LUN: a target port group (ALUA), where that LUN of the portal group is.
lio_group() {
    local group=$lio/core/$1/alua/$2
    mkdir "$group"
    echo "$3" >"$group/tg_pt_gp_id"
    echo 1 >"$group/alua_access_type" # implicit
    echo "$2" >"$lio/iscsi/$4/tpgt_${TPG-1}/lun/lun_$5/alua_tg_pt_gp"
}

# lio_access BACKSTORE NAME STATE: 0 active/optimized, 1 active/non-optimized, 2 standby, 3 unavailable.
lio_access() { echo "$3" >"$lio/core/$1/alua/$2/alua_access_state"; }

# lio_moved IQN LUN: the mebibytes that a LUN of the portal group has read and written.
lio_moved() {
    local port=$lio/iscsi/$1/tpgt_${TPG-1}/lun/lun_$2/statistics/scsi_tgt_port
    echo $(($(<"$port/read_mbytes") + $(<"$port/write_mbytes")))
}

# lio_cut_often IQN PORT [1]: in the background, all TCP connections of a port, or one of them, are aborted every second
# in which data moved (so that nobody is cut off who just comes); lio_cut_no_more ends that and says how many there were.
lio_cut_often() {
    modprobe tcp_diag
    local before now
    before=$(lio_moved "$1" 0)
    while sleep 1; do
        now=$(lio_moved "$1" 0)
        ((now > before)) || continue
        before=$now
        case ${3-} in
        1) ss -HK state established "sport = :$2 and dport = :$(ss -Htn state established "sport = :$2" | lio_any_peer)" ;;
        *) ss -HK state established "sport = :$2" ;;
        esac
    done >/tmp/cuts &
    echo $! >/tmp/cutter
}
lio_any_peer() { # the port of one of them; 1, which nobody has, where there is none
    awk '{ sub(".*:", "", $4); port[NR] = $4 } END { srand(); print NR ? port[1 + int(rand() * NR)] : 1 }'
}
lio_cut_no_more() {
    kill "$(</tmp/cutter)"
    echo "$(wc -l </tmp/cuts) connections were cut"
}

# --- RDMA ---

# rdma_net [ADDR]: a network of the guest's own (rdma0, MTU 9000 for RoCE MTU 4096) with the software RoCE device
# rxe_rdma0 on it. RDMA connections from ADDR to itself work, so one guest holds both ends of iSER.
rdma_net() {
    modprobe dummy numdummies=0
    ip link add rdma0 type dummy
    rdma_on rdma0 "${1:-10.8.0.1}"
}

# rdma_on NETDEV ADDR: gives a network device the address, MTU 9000 and soft-RoCE (rxe_NETDEV).
rdma_on() {
    modprobe -a rdma_rxe ib_uverbs rdma_ucm
    ip link set "$1" mtu 9000
    ip addr add "$2/24" dev "$1"
    ip link set "$1" up
    rdma link add "rxe_$1" type rxe netdev "$1"
    wait_for 10 grep -q ACTIVE "/sys/class/infiniband/rxe_$1/ports/1/state"
}

# drop_all NETDEV: drops what it sends and receives, until drop_nothing. The link remains up: once soft-RoCE of Linux 6.1 has
# had to send a message of the connection manager over a link that is down, its QP 1 answers no more.
drop_all() {
    modprobe -a sch_netem sch_ingress cls_u32 act_gact
    tc qdisc add dev "$1" root netem loss 100%
    tc qdisc add dev "$1" clsact
    tc filter add dev "$1" ingress protocol all u32 match u32 0 0 action drop
}
drop_nothing() {
    tc qdisc del dev "$1" root
    tc qdisc del dev "$1" clsact
}

# --- Java ---

# run_tests CLASS...: JUnit tests that `check` has collected. Two compilers and a parallel collector are of no use here.
run_tests() {
    java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -ea --enable-native-access=ALL-UNNAMED \
        -cp '/opt/tests/classes:/opt/tests/lib/*' RunTests "$@"
}

# --- Lunar in the guest ---

# lunar ARG...: the command of this checkout (# check: guest). `check` has shared it at the path that it has on the host,
# for which its ahead-of-time cache was made.
lunar_dist=$(sed -n 's|^[^ ]* \(.*/dist\) ro$|\1|p' /run/lab/mounts 2>/dev/null || true)
lunar_command=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:AOTCache="$lunar_dist/lunar.aot" '-Xlog:aot*=off' '-Xlog:cds*=off'
    --module-path "$lunar_dist/lib" --enable-native-access=lunar.store,lunar.tcp,lunar.rdma --module lunar.cli/lunar.cli.Main)
lunar() { "${lunar_command[@]}" "$@"; }

# serve ARG...: lunar serve in the background, until it serves; what it prints is in /tmp/serve.log. stop_serving ends
# it, prints that, and fails where the server was gone, or does not end.
serve() {
    "${lunar_command[@]}" serve "$@" >/tmp/serve.log 2>&1 &
    serving=$!
    wait_for 60 is_serving
}
is_serving() {
    kill -0 "$serving" 2>/dev/null || { cat /tmp/serve.log; die "the server ended at its start"; }
    grep -q '^serving .* lun ' /tmp/serve.log
}
stop_serving() {
    cat /tmp/serve.log
    kill "$serving" || die "the server is gone"
    wait_for 20 server_is_gone
}
server_is_gone() { ! kill -0 "$serving" 2>/dev/null; }

# --- faults, multipath ---

# cut_port sport|dport PORT: drops what eth0 sends from (one connection) or to (all of a portal) the TCP port, so
# that the host never hears that the guest gave up. mend_ports ends all such cuts.
cut_port() {
    modprobe -a sch_ingress cls_u32 act_gact
    tc qdisc add dev eth0 clsact 2>/dev/null || true
    tc filter add dev eth0 egress protocol ip u32 match ip "$1" "$2" 0xffff action drop
}
mend_ports() { tc qdisc del dev eth0 clsact; }

# Needed by multipathd; the rest of the lab does without.
start_udev() {
    /usr/lib/systemd/systemd-udevd --daemon
    udevadm trigger --action=add
    udevadm settle -t 60
}

start_multipathd() {
    modprobe -a dm_multipath dm_service_time
    printf '%s\n' 'defaults {' 'user_friendly_names yes' 'find_multipaths no' 'polling_interval 2' 'no_path_retry 30' '}' >/etc/multipath.conf
    multipathd
    wait_for 20 multipathd show daemon >/dev/null
}
