# The captures kernel-lio-*: kernel initiator and LIO in one guest of the VM lab (run --dir D guest.sh writes D/*.pcap).
set -e
base=iqn.2026-01.org.lunar portal=127.0.0.1:3260
mkdir -p /etc/iscsi /run/lock/iscsi
modprobe -a iscsi_tcp sd_mod sg
# Without an alias of its own iscsid sends the name of the machine.
printf 'InitiatorName=%s:initiator\nInitiatorAlias=lunar-initiator\n' $base >/etc/iscsi/initiatorname.iscsi
iscsid

start_lio
lio_ramdisk disk 8
for name in lio unsolicited chap erl2; do
    lio_target $base:$name rd_mcp_0/disk
    lio_portal $base:$name $portal
done
group() { echo "$lio/iscsi/$base:$1/tpgt_1"; }
acl=$(group lio)/acls/$base:initiator
mkdir -p "$acl/lun_0"
ln -s "$(group lio)/lun/lun_0" "$acl/lun_0/disk"
echo 3 >"$acl/attrib/nopin_timeout"
echo 3 >"$acl/attrib/nopin_response_timeout"
echo No >"$(group unsolicited)/param/InitialR2T"
acl=$(group chap)/acls/$base:initiator
echo 1 >"$(group chap)/attrib/authentication"
echo 0 >"$(group chap)/attrib/generate_node_acls"
mkdir -p "$acl/lun_0"
ln -s "$(group chap)/lun/lun_0" "$acl/lun_0/disk"
for pair in userid=reader password=secret-of-reader userid_mutual=writer password_mutual=secret-of-target; do
    echo -n "${pair#*=}" >"$acl/auth/${pair%%=*}"
done

capture() {
    tcpdump -Z root -i lo -U --immediate-mode -B 16384 -s 0 -w "/tmp/$1.pcap" tcp port 3260 2>"/tmp/$1.err" &
    dump=$!
    wait_for 10 grep -q listening "/tmp/$1.err"
}
end() {
    sleep 1
    kill $dump
    wait $dump || true
    cp "/tmp/$1.pcap" /mnt/host/
}
quiet=(timeo.noop_out_interval=0 timeo.noop_out_timeout=0)
# record TARGET SETTING...: names without node. are of node.conn[0], which is how the .hex files shorten them too.
record() {
    local target=$base:$1 setting
    iscsiadm -m node -T "$target" -p $portal -o new >/dev/null
    for setting in node.session.initial_login_retry_max=2 timeo.login_timeout=15 "${@:2}"; do
        [[ $setting == node.* ]] || setting="node.conn[0].$setting"
        iscsiadm -m node -T "$target" -p $portal -o update -n "${setting%%=*}" -v "${setting#*=}"
    done
}
# scenario NAME TARGET COMMAND: capture, log in, COMMAND with $disk and $sg, log out.
scenario() {
    capture "$1"
    iscsiadm -m node -T $base:"$2" -p $portal --login >/dev/null
    disk=$(iscsi_disk)
    sg=$(compgen -G "/sys/block/${disk#/dev/}/device/scsi_generic/sg*")
    sg=/dev/${sg##*/}
    sleep 1
    "$3"
    iscsiadm -m node -T $base:"$2" -p $portal --logout >/dev/null
    iscsiadm -m node -T $base:"$2" -p $portal -o delete
    end "$1"
}
head -c 4096 /dev/zero | tr '\0' Z >/tmp/pattern
put() { dd if=/tmp/pattern of="$disk" bs="$1" count=1 oflag=direct conv=notrunc 2>/dev/null; }
get() { dd if="$disk" of=/dev/null bs="$1" count=1 iflag=direct 2>/dev/null; }

read_write() { put 512; get 1024; sg_raw -r 5 "$sg" 12 00 00 00 05 00; }
reads() { get 2048; get 4096; }
write2048() { put 2048; }
write4096() { put 4096; }
pings() { sleep 8; }
resets() { sg_reset -N -d "$sg" || true; sg_reset -N -t "$sg" || true; get 512; }
long_cdbs() {
    sg_raw -r 512 "$sg" 7f 0 0 0 0 0 0 18 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 || true
    sg_write_same --32 --lba=1 --num=1 --in=/tmp/pattern --xferlen=512 "$sg" || true
}

record lio "${quiet[@]}"
scenario kernel-lio lio read_write
record lio "${quiet[@]}" iscsi.HeaderDigest=CRC32C iscsi.DataDigest=CRC32C
scenario kernel-lio-digests lio read_write
record lio "${quiet[@]}" iscsi.HeaderDigest=None,CRC32C iscsi.DataDigest=CRC32C,None iscsi.MaxRecvDataSegmentLength=512
scenario kernel-lio-small lio reads
record lio "${quiet[@]}" node.session.iscsi.ImmediateData=No node.session.iscsi.InitialR2T=Yes \
    node.session.iscsi.MaxBurstLength=1024 node.session.iscsi.FirstBurstLength=1024 iscsi.MaxXmitDataSegmentLength=512
scenario kernel-lio-r2t lio write2048
record unsolicited "${quiet[@]}" node.session.iscsi.ImmediateData=Yes node.session.iscsi.InitialR2T=No \
    node.session.iscsi.FirstBurstLength=2048 iscsi.MaxXmitDataSegmentLength=512
scenario kernel-lio-unsolicited unsolicited write4096
record lio timeo.noop_out_interval=2 timeo.noop_out_timeout=5
scenario kernel-lio-nop lio pings
record lio "${quiet[@]}"
scenario kernel-lio-tmf lio resets
record lio "${quiet[@]}" iscsi.HeaderDigest=CRC32C
scenario kernel-lio-ahs lio long_cdbs
chap=(node.session.auth.authmethod=CHAP node.session.auth.username=reader)
record chap "${quiet[@]}" "${chap[@]}" node.session.auth.password=secret-of-reader \
    node.session.auth.username_in=writer node.session.auth.password_in=secret-of-target
scenario kernel-lio-chap chap true

record chap "${quiet[@]}" "${chap[@]}" node.session.auth.password=wrong-secret-here
capture kernel-lio-chap-wrong
timeout 60 iscsiadm -m node -T $base:chap -p $portal --login || true
end kernel-lio-chap-wrong
capture kernel-lio-discovery
iscsiadm -m discovery -t st -p $portal
end kernel-lio-discovery
echo 'discovery.sendtargets.iscsi.MaxRecvDataSegmentLength = 512' >>/etc/iscsi/iscsid.conf
for i in 1 2 3 4 5 6 7 8; do
    lio_target $base:a-target-with-a-longer-name-number-$i
    lio_portal $base:a-target-with-a-longer-name-number-$i $portal
done
capture kernel-lio-discovery-long
iscsiadm -m discovery -t st -p $portal -o nonpersistent
end kernel-lio-discovery-long
