# Helpers for tests whose target is LIO in the guest and whose initiator is ./lunar on this host; `check` loads them
# before each such test (# check: lio). Variables: lab (this folder), share (what the guest has at /mnt/host), scratch.
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
