#!/bin/bash
# The Debian package under systemd: installed, started as Type=notify, used by the kernel's initiator while it is reloaded,
# killed with SIGKILL, upgraded and hung; there after a reboot; then removed and purged, and the disk is kept.
# on demand
# check: deb
set -euo pipefail
boot=$1
iqn=iqn.2026-11.org.lunar:disk portal=127.0.0.1:3260
config=/etc/lunar/lunar.toml
unset -f lunar # the package's own

state() { systemctl show -p "$1" --value lunar; }
is() { [[ $(state "$1") == "$2" ]] || die "$1 is $(state "$1"), not $2"; }
has_status() { [[ $(state StatusText) == "$1"* ]]; }
refusals() { journalctl -u lunar --no-pager | grep -c 'configuration not reloaded'; }
refused() { (($(refusals) == $1)); }
sum() { dd if="$1" bs=1M count=32 iflag=direct status=none | sha256sum; }
holds() { [[ $(timeout 60 dd if="$1" bs=1M count=32 iflag=direct status=none | sha256sum) == "$data" ]]; }
restarted() { (($(state NRestarts) == $1)) && [[ $(state ActiveState) == active ]]; }

if ((boot == 2)); then
    wait_for 300 has_status 'serving 2 LUNs'
    is ActiveState active
    start_iscsid
    iscsi_login "$iqn" "$portal"
    disk=$(iscsi_disk 0)
    data=$(</root/data)
    holds "$disk" || die "the disk has other data after the reboot"
    iscsi_logout "$iqn" "$portal"
    dpkg --remove lunar
    [[ -f $config && -f /var/lib/lunar/disk0.img ]] || die "the removal is a purge"
    [[ $(systemctl is-active lunar) == inactive ]] || die "the removed service is $(systemctl is-active lunar)"
    dpkg --purge lunar
    [[ ! -e /usr/lib/lunar && ! -e /etc/lunar && ! -e /usr/bin/lunar ]] || die "not all is purged: $(ls -d /usr/lib/lunar/* /etc/lunar)"
    ! systemctl cat lunar 2>/dev/null || die "the unit is still there"
    [[ -f /var/lib/lunar/disk0.img ]] || die "the purge has removed a disk"
    exit
fi

dpkg -i /mnt/host/old.deb
[[ -s /usr/lib/lunar/lunar.aot ]] || die "no ahead-of-time cache was made"
[[ $(stat -c %U:%G:%a /etc/lunar) == root:lunar:770 ]] || die "/etc/lunar is $(stat -c %U:%G:%a /etc/lunar)"
[[ $(systemctl is-enabled lunar) == disabled ]] || die "the service is $(systemctl is-enabled lunar)"
lunar config check "$config"
systemctl enable --now lunar
# It is Type=notify: what the start waits for is there.
is ActiveState active
has_status 'serving 1 LUN of 1 target on 127.0.0.1:3260' || die "status: $(state StatusText)"
lunar discover 127.0.0.1 | grep -q "$iqn"
grep -q '^CapBnd:.0*$' "/proc/$(state MainPID)/status" || die "the server has capabilities"
[[ $(stat -c %U "/proc/$(state MainPID)") == lunar ]] || die "the server does not run as lunar"
echo "started: $(state StatusText)"

start_iscsid
iscsi_login "$iqn" "$portal"
disk=$(iscsi_disk 0) session=$(iscsi_session)
lunar sessions --config "$config" | grep -q iqn.2026-01.org.lunar:guest || die "lunar sessions: $(lunar sessions --config "$config")"
lunar status --config "$config"
dd if=/dev/urandom of="$disk" bs=1M count=32 oflag=direct status=none
data=$(sum "$disk")
echo "$data" >/root/data

sed -i 's|^luns = .*|luns = ["file:/var/lib/lunar/disk0.img?size=1GiB", "file:/var/lib/lunar/disk1.img?size=64MiB"]|' "$config"
systemctl reload lunar
wait_for 60 has_status 'serving 2 LUNs'
is ActiveState active
cp "$config" /root/good
echo 'mistake = 1' >>"$config"
systemctl reload lunar
wait_for 60 refused 1
cp /root/good "$config"
# The unit forbids to write elsewhere, in directories of its user too.
install -d -o lunar /srv/lunar
sed -i 's|/var/lib/lunar/disk1.img|/srv/lunar/disk1.img|' "$config"
systemctl reload lunar
wait_for 60 refused 2
cp /root/good "$config"
has_status 'serving 2 LUNs' || die "status: $(state StatusText)"
[[ ! -e /srv/lunar/disk1.img ]] || die "the service writes outside of its directory"
[[ $(iscsi_session) == "$session" ]] || die "the session was lost in a reload"
echo "reloaded: $(state StatusText)"

kill -KILL "$(state MainPID)"
wait_for 120 restarted 1
wait_for 120 holds "$disk"
[[ $(iscsi_session) == "$session" ]] || die "the session was lost when the server was killed"
echo "killed and restarted"

! dpkg -i /mnt/host/broken.deb || die "a package that does not unpack was installed"
is ActiveState active
wait_for 120 holds "$disk"
echo "running after an upgrade that failed"

dpkg -i /mnt/host/new.deb
[[ $(dpkg-query -W -f '${Version}' lunar) == *+later ]] || die "not upgraded"
is ActiveState active
wait_for 120 holds "$disk"
[[ $(iscsi_session) == "$session" ]] || die "the session was lost in the upgrade"
echo "upgraded"

# The watchdog (1 min) ends a server that hangs.
kill -STOP "$(state MainPID)"
wait_for 200 restarted 1
wait_for 120 holds "$disk"
[[ $(iscsi_session) == "$session" ]] || die "the session was lost when the watchdog acted"
echo "restarted by the watchdog"
iscsi_logout "$iqn" "$portal"
