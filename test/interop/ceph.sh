#!/bin/sh
# A Ceph cluster of one monitor and one OSD in memory, with an S3 gateway on loopback: `ceph.sh start FOLDER PORT` writes
# FOLDER/pids and returns when the gateway answers; `ceph.sh stop FOLDER` ends what it started. From Debian's packages:
# apt-get install radosgw ceph-mon ceph-osd. Everything stands in FOLDER.
set -eu
folder=$2
conf=$folder/ceph.conf

start() {
  port=$1
  mkdir -p "$folder/mon" "$folder/osd" "$folder/rgw"
  id=$(cat /proc/sys/kernel/random/uuid)
  cat >"$conf" <<CONF
[global]
fsid = $id
mon host = [v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]
ms bind ipv6 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon cluster mode = crc
ms mon service mode = crc
ms mon client mode = crc
ms client mode = crc
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data = $folder/mon
osd data = $folder/osd
osd objectstore = memstore
memstore device bytes = 4294967296
rgw data = $folder/rgw
rgw frontends = beast endpoint=127.0.0.1:$port
rgw dns name = localhost
run dir = $folder
admin socket = $folder/\$name.asok
log file = $folder/\$name.log
pid file = $folder/\$name.pid
CONF
  export CEPH_CONF="$conf"
  monmaptool --create --fsid "$id" --addv a "[v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]" "$folder/monmap" >/dev/null
  ceph-mon --mkfs -i a --monmap "$folder/monmap" >/dev/null
  : >"$folder/pids"
  ceph-mon -i a -f >"$folder/mon.out" 2>&1 & echo $! >>"$folder/pids"
  osd=$(cat /proc/sys/kernel/random/uuid)
  timeout 60 ceph osd new "$osd" >/dev/null
  timeout 60 ceph-osd -i 0 --mkfs --osd-uuid "$osd" >"$folder/osd.out" 2>&1
  ceph-osd -i 0 -f >>"$folder/osd.out" 2>&1 & echo $! >>"$folder/pids"
  radosgw -n client.rgw -f >"$folder/rgw.out" 2>&1 & echo $! >>"$folder/pids"
  timeout 60 radosgw-admin user create --uid=pricelake --display-name=pricelake \
    --access-key="$AWS_ACCESS_KEY_ID" --secret="$AWS_SECRET_ACCESS_KEY" >/dev/null 2>"$folder/admin.out"
  for _ in $(seq 120); do
    ! curl -s -m 5 -o /dev/null "http://127.0.0.1:$port/" || return 0
    sleep 0.5
  done
  echo "the gateway did not answer: see $folder/rgw.out" >&2
  return 1
}

stop() {
  # Another process may have the number of one that ended.
  [ ! -f "$folder/pids" ] || while read -r pid; do
    ! grep -qsa 'ceph\|radosgw' "/proc/$pid/cmdline" || kill "$pid" 2>/dev/null || true
  done <"$folder/pids"
}

case $1 in
  start) start "$3" ;;
  stop) stop ;;
esac
