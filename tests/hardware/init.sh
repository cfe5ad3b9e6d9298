#!/bin/busybox sh
# First program of the guest: loads the drivers, mounts the host's files read-only, runs the guest program in them.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
for module in $(cat /modules.order); do
  insmod "/modules/$module" || echo "@init cannot load $module"
done
mkdir -p /host
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host || echo "@init cannot mount the host"
mount -t proc proc /host/proc
mount --bind /sys /host/sys
mount --bind /dev /host/dev
# Nothing of the host can be written, so all that a program may write goes to memory.
export HOME=/dev/shm TMPDIR=/dev/shm DENO_DIR=/dev/shm/deno NO_COLOR=1
word() { sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
chroot /host "$(word DENO)" run -A --no-config --no-lock "$(word PROGRAM)"
echo "@end $?"
poweroff -f
