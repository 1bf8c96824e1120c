# Does what a script on the host asks for (host.sh): each N.ask in the shared folder in its turn, in a shell of its own.
# shellcheck shell=bash
set +e
share=/mnt/host n=1
while [[ ! -e $share/stop ]]; do
    if [[ ! -e $share/$n.ask ]]; then
        sleep 0.1
        continue
    fi
    # shellcheck disable=SC1090
    (set -euo pipefail && . "$share/$n.ask") >"$share/$n.out" 2>&1 </dev/null
    echo $? >"$share/$n.tmp"
    mv "$share/$n.tmp" "$share/$n.rc"
    n=$((n + 1))
done
