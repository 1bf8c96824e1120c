# Helpers for tests whose script runs on this host: their target is LIO in the guest and their initiator ./lunar here, or
# they have several servers here. `check` loads them before each such test (# check: lio, # check: host). Variables: lab (this folder), share (what the guest has at /mnt/host), scratch.
# shellcheck shell=bash
unset BASH_ENV # for what is started from here
lab=${LAB:?} scratch=${LAB_SCRATCH:?} share=$scratch/share

die() { echo "$*" >&2; exit 1; }
step() { echo "--- $*"; }

# guest COMMANDS: runs them in the guest as root, with the helpers of guest/lib.sh, prints what they print and returns
# their status. One at a time; what they leave in the background goes on.
guest() {
    local n=1 rc
    while [[ -e $share/$n.ask ]]; do n=$((n + 1)); done
    printf '%s\n' "$*" >"$share/ask"
    mv "$share/ask" "$share/$n.ask"
    until [[ -e $share/$n.rc ]]; do
        kill -0 "$LAB_GUEST" || die "the guest is gone"
        sleep 0.05
    done
    cat "$share/$n.out"
    rc=$(<"$share/$n.rc")
    return "$rc"
}

lunar() { "$lab/../../lunar" "$@"; }

# refused PATTERN ARG...: lunar ARG... must fail, and say why in one line that the pattern matches.
refused() {
    local rc=0
    lunar "${@:2}" >"$scratch/refused" 2>&1 || rc=$?
    cat "$scratch/refused"
    ((rc)) || die "this should fail: lunar ${*:2}"
    (($(wc -l <"$scratch/refused") == 1)) || die "not one line"
    grep -Eq "$1" "$scratch/refused" || die "the line does not say '$1'"
}

# random FILE MIB
random() { dd if=/dev/urandom of="$1" bs=1M count="$2" status=none; }

# same FILE GUEST-FILE: by checksum; the guest's file may be longer.
same() {
    local bytes here there
    bytes=$(stat -c %s "$1")
    here=$(sha256sum <"$1")
    there=$(guest "head -c $bytes $2 | sha256sum")
    [[ $here == "$there" ]] || die "$2 in the guest is not what was copied: $there and not $here"
    echo "the guest's file is what was copied: $there"
}

# --- servers of the test's own on this host ---

declare -A servers=() # process by name
trap 'for name in "${!servers[@]}"; do stop "$name" KILL; done' EXIT

# Below the ports that the kernel gives to outgoing connections.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)); (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo "$port"
}

# start NAME COMMAND...: in the background; what it prints is in $scratch/NAME.log.
start() {
    : >"$scratch/$1.log" # here, not by the child: else what a server of this name said before could be taken for its word
    "${@:2}" </dev/null >"$scratch/$1.log" 2>&1 &
    servers[$1]=$!
    disown
}

# stop NAME [SIGNAL]: TERM, if no other, and waits for the end.
stop() {
    local i pid=${servers[$1]}
    unset "servers[$1]"
    kill -"${2-TERM}" "$pid" 2>/dev/null || true
    for ((i = 0; i < 200; i++)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid"
    die "$1 did not end at SIG${2-TERM} in 20 s"
}

# await SECONDS COMMAND...: tries ten times a second.
await() {
    local i
    for ((i = $1 * 10; i > 0; i--)); do
        "${@:2}" && return
        sleep 0.1
    done
    die "gave up after $1 s: ${*:2}"
}

# serve NAME PORT IQN DEVICE...: ./lunar serve
serve() {
    start "$1" "$lab/../../lunar" serve "${@:4}" --portal "127.0.0.1:$2" --iqn "$3"
    await 60 is_serving "$1"
}
is_serving() {
    kill -0 "${servers[$1]}" 2>/dev/null || { cat "$scratch/$1.log"; die "$1 ended at its start"; }
    grep -q '^serving .* lun ' "$scratch/$1.log"
}

# serve_tgtd NAME PORT IQN FILE: Debian's tgtd; the file is its LUN 1.
serve_tgtd() {
    export TGT_IPC_SOCKET=$scratch/$1.tgtd
    start "$1" tgtd -f --iscsi "portal=127.0.0.1:$2"
    await 20 tgt --op show --mode sys 2>/dev/null
    tgt --op new --mode target --tid 1 -T "$3"
    tgt --op new --mode logicalunit --tid 1 --lun 1 -b "$4"
    tgt --op bind --mode target --tid 1 -I ALL
}
tgt() { tgtadm --lld iscsi "$@" >/dev/null; }
