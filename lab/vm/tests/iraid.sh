#!/bin/bash
# check: host
# check: tgtd
# The proof of the iRAID paper, further than it went: a source tree on a volume over four targets, two of tgtd and two of
# Lunar, that a gateway serves to the guest's kernel. Disks are wiped and their targets killed, all that the level
# survives at once; the tree has its checksums and something is built from it. The members are replaced and rebuilt while
# the tree is read and fio writes and verifies; then others are lost, and all still holds. RAID 5, then RAID 6.
set -euo pipefail
: "${scratch:?}" "${share:?}" "${lab:?}"
iqn=$1 mib=128
export LUNAR_CONFIG=$scratch/volumes.toml
root=$lab/../..

# --- four targets; a disk of each; the last two are Lunar's ---

ports=()
# target NUMBER [FILTER]: Lunar's may have a filter.
target() {
    local disk=$scratch/member$1.img
    if (($1 < 2)); then
        serve_tgtd "member$1" "${ports[$1]}" "$iqn.m$1" "$disk"
    else
        serve "member$1" "${ports[$1]}" "$iqn.m$1" "${2-}file:$disk"
    fi
}
# What a volume waits for a target that is gone is the patience of its path.
uri() { echo "iscsi://127.0.0.1:${ports[$1]}/$iqn.m$1/$(($1 < 2))?no-path-retry=3"; }
blank() { rm -f "$scratch/member$1.img" && truncate -s "${mib}M" "$scratch/member$1.img"; }
# wipe NUMBER: as by a format, and the target dies.
wipe() {
    stop "member$1" KILL
    blank "$1"
}

# --- the tree ---

check='(cd /mnt/volume/tree && sha256sum --quiet -c /mnt/host/tree.sums)'
# Headers, two of which are whole programs, from the volume alone; what is built runs from there, too.
build='
cd /mnt/volume && rm -rf built && mkdir built
cat >built/main.c <<"C"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_SIMD
#define STBI_ONLY_PNG
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stdio.h>
#include <string.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
int main(void) {
    static unsigned char there[64 * 64 * 3];
    int w, h, n;
    for (unsigned i = 0; i < sizeof there; i++) there[i] = i * i >> 5;
    if (!stbi_write_png("built/image.png", 64, 64, 3, there, 0)) return 1;
    unsigned char *back = stbi_load("built/image.png", &w, &h, &n, 0);
    if (!back || w != 64 || h != 64 || n != 3 || memcmp(back, there, sizeof there)) return 2;
    puts("built, and it runs");
}
C
tcc -nostdinc -Iinclude -Iinclude/x86_64-linux-gnu -I/usr/lib/x86_64-linux-gnu/tcc/include -o built/main built/main.c -lm
sync
echo 3 >/proc/sys/vm/drop_caches
built/main
'
intact() {
    guest "echo 3 >/proc/sys/vm/drop_caches; $check; $build"
    echo "intact: $* ($SECONDS s)"
}

step "the tree"
(cd "$root" && tar -cf "$share/tree.tar" --exclude=target lunar-*/src/main docs lab scripts)
mkdir "$scratch/tree"
tar -xf "$share/tree.tar" -C "$scratch/tree"
(cd "$scratch/tree" && find . -type f -print0 | xargs -0 sha256sum) >"$share/tree.sums"
echo "$(wc -l <"$share/tree.sums") files, $(du -sh "$scratch/tree" | cut -f1)"
guest start_iscsid

# prove LEVEL FIRST-LOST SECOND-LOST: each a list of targets.
prove() {
    local volume=$1:$1-tree gateway n
    step "$volume"
    for n in 0 1 2 3; do
        ports[n]=$(free_port)
        blank $n
        target $n
    done
    gateway=$(free_port)
    lunar raid create "$volume" "$(uri 0)" "$(uri 1)" "$(uri 2)" "$(uri 3)"
    serve gateway "$gateway" "$iqn.$1" "$volume"
    guest "
        iscsi_login $iqn.$1 10.0.2.2:$gateway
        mkfs.ext4 -q \$(iscsi_disk 0)
        mkdir -p /mnt/volume
        mount \$(iscsi_disk 0) /mnt/volume
        mkdir /mnt/volume/tree
        tar -xf /mnt/host/tree.tar -C /mnt/volume/tree
        mkdir /mnt/volume/include
        cp -r /usr/include/{*.h,stb,x86_64-linux-gnu,linux,asm-generic} /mnt/volume/include
        sync"
    intact "all members"

    for n in $2; do wipe "$n"; done
    intact "wiped: $2"
    lunar raid status "$volume" && die "a volume without $2 is said to be sound"

    guest "
        rm -f /tmp/enough /tmp/wrong
        (until [[ -e /tmp/enough ]]; do
            echo 3 >/proc/sys/vm/drop_caches
            $check || touch /tmp/wrong
        done) >/tmp/reader 2>&1 &
        (until [[ -e /tmp/enough ]]; do
            fio --name=load --directory=/mnt/volume --size=8m --rw=randwrite --bsrange=4k-64k --ioengine=libaio \
                --direct=1 --iodepth=4 --verify=crc32c --verify_fatal=1 --rate=4m || touch /tmp/wrong
        done) >/tmp/writer 2>&1 &"
    for n in $2; do
        target "$n" throttle=16MiB: # a rebuild that lasts
        lunar raid replace "$volume" "$n" "$(uri "$n")"
    done
    lunar raid rebuild "$volume"
    guest "
        touch /tmp/enough
        wait_for 60 eval '! pgrep -f tree.sums && ! pgrep fio' >/dev/null
        cat /tmp/reader
        [[ ! -e /tmp/wrong ]] || { cat /tmp/writer; die 'the load saw wrong data'; }"
    lunar raid status "$volume"

    for n in $3; do wipe "$n"; done
    intact "wiped after the rebuild: $3"
    guest "
        umount /mnt/volume
        e2fsck -fn \$(iscsi_disk 0)
        iscsi_logout $iqn.$1 10.0.2.2:$gateway"
    stop gateway
    for n in 0 1 2 3; do
        [[ -z ${servers[member$n]-} ]] || stop "member$n" KILL
    done
}

prove raid5 3 0
prove raid6 '1 3' '0 2'
