#!/bin/bash
# Runs the Windows serial driver under Wine 10, from the unmodified npm deno.exe, against a device on PTYs.
#
#   tests/platforms/wine/rig.sh setup    once; about two minutes, 1.2 GB in $RIG
#   tests/platforms/wine/rig.sh check    all checks; results in $RIG/out; exit status 0 when all passed
#   tests/platforms/wine/rig.sh wine PROGRAM ARGS…    anything under this Wine
#
# Needs root (chroot, mount) and on Debian 12: mmdebstrap, gcc, npm, deno. RIG=/tmp/wine-rig, MIRROR=this machine's own Debian mirror.
#
# Traps that this script knows:
# - Never pipe Wine's output while a wineserver lives: its services keep the pipe open. Output goes to files.
# - The wineserver must not be a session leader, or a PTY opened as COMn becomes its terminal and a hang-up kills it.
# - HKLM\Software\Wine\Ports is read only when the wineserver starts.
set -u
REPO=$(cd "$(dirname "$0")/../../.." && pwd)
HERE=$REPO/tests/platforms/wine
RIG=${RIG:-/tmp/wine-rig}
MIRROR=${MIRROR:-$(grep -rohE 'https?://[^ ]+' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1)}
DENO_VERSION=2.9.6
ROOT=$RIG/root13
export RIG ROOT
COUNT=9 # PTYs: COM5, and COM21 to COM28

# wine PROGRAM ARGS… in the chroot, with mounts of its own. WINE_BINARY and SHIM (a library to preload) may be set.
wine() {
  unshare -m --propagation private sh -c '
    mount --rbind /dev "$ROOT/dev" && mount -t proc proc "$ROOT/proc" && mkdir -p "$ROOT$RIG" && mount --bind "$RIG" "$ROOT$RIG"
    exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 XDG_RUNTIME_DIR=/tmp \
      WINEPREFIX="$RIG/prefix" WINEARCH=win64 WINEDLLOVERRIDES="mscoree=;mshtml=" WINEDEBUG="${WINEDEBUG:--all}" \
      FIELDBENCH_SHIM="$RIG/shim" ${SHIM:+LD_PRELOAD="$SHIM"} DENO_DIR="Z:$RIG/deno_dir" NO_COLOR=1 \
      DENO_NO_UPDATE_CHECK=1 sh -c "cd \"$RIG\"; exec \"\$@\"" wine "$@"' wine "${WINE_BINARY:-/usr/lib/wine/wine64}" "$@"
}

server_start() {
  WINE_BINARY=/usr/lib/wine/wineserver wine -f -p > "$RIG/out/server.txt" 2>&1 < /dev/null &
  sleep 0.5
}

server_stop() {
  WINE_BINARY=/usr/lib/wine/wineserver wine -k > "$RIG/out/server_stop.txt" 2>&1 < /dev/null
  sleep 0.5
}

device_links() {
  for n in $(seq 1 $COUNT); do echo "$RIG/pty/$n"; done
}

device_start() {
  mkdir -p "$RIG/pty"
  # shellcheck disable=SC2046
  deno run -A --no-check "$HERE/device.ts" $(device_links) > "$RIG/out/device.txt" 2>&1 < /dev/null &
  echo $! > "$RIG/device.pid"
  for _ in $(seq 100); do grep -qs '^ready' "$RIG/out/device.txt" && return; sleep 0.1; done
  echo "the device did not start: see $RIG/out/device.txt" >&2
  exit 1
}

device_stop() {
  [ -f "$RIG/device.pid" ] && kill "$(cat "$RIG/device.pid")" 2> /dev/null
  rm -f "$RIG/device.pid"
}

# step NAME COMMAND… : output in files, a line with the verdict and the time
step() {
  local name=$1 start
  shift
  start=$(date +%s%3N)
  timeout 180 bash -c '"$@"' step "$@" > "$RIG/out/$name.txt" 2> "$RIG/out/$name.err" < /dev/null
  local status=$?
  [ $status = 0 ] && verdict=ok || { verdict=FAIL; failed=1; }
  echo "$verdict $name: exit status $status, $(($(date +%s%3N) - start)) ms"
}

# The command line of a check: bundled on Linux, so that Wine needs no network.
wine_test() {
  local name=$1
  shift
  wine "$RIG/deno/package/deno.exe" test -A --no-check --no-config --no-lock "app/$name.js" "$@"
}

# The whole program: the server under Wine, its client on Linux.
server_check() {
  local ready=$RIG/out/ready.json server status
  (cd "$REPO" && deno bundle --quiet --platform deno -o "$RIG/app/main.js" main.ts) || return 1
  rm -rf "$RIG/config"
  timeout 120 bash -c '"$@"' serve wine "$RIG/deno/package/deno.exe" run -A --no-config --unstable-no-legacy-abort \
    app/main.js serve --headless --no-open --ready-json --rate-limit 0 --config-dir "Z:$RIG/config" \
    > "$ready" 2> "$RIG/out/serve.err" < /dev/null &
  server=$!
  (cd "$REPO" && timeout 100 deno run -A --no-check "$HERE/server_check.ts" "$ready")
  status=$?
  kill $server
  return $status
}

setup() {
  mkdir -p "$RIG/deno" "$RIG/out" "$RIG/shim" "$RIG/app"
  [ -x "$ROOT/usr/lib/wine/wine64" ] ||
    mmdebstrap --variant=minbase --include=wine64,wine,ca-certificates \
      --aptopt='APT::Install-Recommends "false"' trixie "$ROOT" "$MIRROR" || exit 1
  [ -f "$RIG/deno/package/deno.exe" ] ||
    (cd "$RIG/deno" && npm pack --silent "@deno/win32-x64@$DENO_VERSION" && tar xzf ./*.tgz) || exit 1
  gcc -shared -fPIC -O1 -Wall -o "$RIG/modem_shim.so" "$HERE/modem_shim.c" || exit 1
  rm -rf "$RIG/prefix"
  wine wineboot -i > "$RIG/out/prefix.txt" 2>&1 < /dev/null
  server_start
  wine wineboot > "$RIG/out/boot.txt" 2>&1 < /dev/null
  local n=1 port
  for port in COM5 COM21 COM22 COM23 COM24 COM25 COM26 COM27 COM28; do
    wine reg add 'HKLM\Software\Wine\Ports' /v $port /d "$RIG/pty/$n" /f > "$RIG/out/ports.txt" 2>&1 < /dev/null
    n=$((n + 1))
  done
  cp "$HERE/devices.reg" "$RIG/"
  wine reg import devices.reg > "$RIG/out/devices.txt" 2>&1 < /dev/null
  server_stop
  echo "set up in $RIG"
}

bundle() {
  local name
  for name in "$@"; do
    (cd "$REPO" && deno bundle --quiet --platform deno -o "$RIG/app/$name.js" "$HERE/$name.ts") || failed=1
  done
}

check() {
  failed=0
  local checks="serial_check list_check stream_check server_check lines_check" name
  [ $# -gt 0 ] && checks=$*
  rm -rf "$RIG/out" "$RIG/shim" && mkdir -p "$RIG/out" "$RIG/shim" "$RIG/app"
  # shellcheck disable=SC2086
  bundle $(echo "$checks" | sed 's/server_check//')
  device_start
  server_start
  step boot wine wineboot
  step version wine "$RIG/deno/package/deno.exe" --version
  for name in $checks; do
    [ "$name" = lines_check ] && export SHIM=$RIG/modem_shim.so
    if [ "$name" = server_check ]; then step server_check server_check; else step "$name" wine_test "$name"; fi
  done
  unset SHIM
  server_stop
  device_stop
  exit $failed
}

export REPO HERE
export -f wine wine_test server_check
case ${1:-} in
  setup) setup ;;
  check) shift; check "$@" ;;
  wine) shift; wine "$@" ;;
  *) sed -n '2,8p' "$0"; exit 2 ;;
esac
