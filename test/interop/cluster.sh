#!/bin/sh
# Spark's own cluster on loopback, a master and three workers, each a process with a core: `cluster.sh start FOLDER PORT SPARK`
# returns when all three are there, and FOLDER/master holds the master's address; `cluster.sh worker FOLDER` adds one worker,
# `cluster.sh stop FOLDER` ends what it started. Each worker has a disk of its own, and no worker sees the folder $HIDDEN. SPARK is the folder of PySpark (PyPI), which has Spark's classes.
set -eu
folder=$2

start_worker() {
  port=$(cat "$folder/port") spark=$(cat "$folder/spark") name=$(cat /proc/sys/kernel/random/uuid)
  mkdir -p "$folder/disk-$name"
  # A mount that only the worker and its children have is before the folder.
  hide='[ -z "$1" ] || mount -t tmpfs none "$1"; shift; exec "$@"'
  SPARK_HOME=$spark SPARK_LOCAL_DIRS=$folder/disk-$name nohup unshare --mount sh -ec "$hide" sh "${HIDDEN:-}" "$spark/bin/spark-class" \
    org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 2g \
    --work-dir "$folder/work" "$(cat "$folder/master")" >"$folder/worker-$name.log" 2>&1 &
  echo $! >>"$folder/pids"
  echo $! >>"$folder/workers"
}

# count_workers: how many the master knows.
count_workers() {
  curl -s -m 5 "http://127.0.0.1:$(($(cat "$folder/port") + 1))/json/" | grep -c '"state" : "ALIVE"' || true
}

start() {
  mkdir -p "$folder/work"
  echo "$1" >"$folder/port"
  echo "$2" >"$folder/spark"
  echo "spark://127.0.0.1:$1" >"$folder/master"
  : >"$folder/pids"
  # Executors that are killed on purpose don't end an application.
  SPARK_HOME=$2 SPARK_MASTER_OPTS='-Dspark.deploy.maxExecutorRetries=-1' nohup "$2/bin/spark-class" \
    org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$1" --webui-port $(($1 + 1)) >"$folder/master.log" 2>&1 &
  echo $! >>"$folder/pids"
  for _ in 1 2 3; do start_worker; done
  for _ in $(seq 120); do
    [ "$(count_workers)" -lt 3 ] || return 0
    sleep 0.5
  done
  echo "no three workers came: see $folder/*.log" >&2
  return 1
}

# list_alive: process ids of the cluster. Another process may have the number of one that ended.
list_alive() {
  [ ! -f "$folder/pids" ] || while read -r pid; do
    ! grep -qsa 'org.apache.spark.deploy' "/proc/$pid/cmdline" || echo "$pid"
  done <"$folder/pids"
}

# stop: returns when all have ended, so that the folder can be removed.
stop() {
  for pid in $(list_alive); do kill "$pid" 2>/dev/null || true; done
  for _ in $(seq 60); do
    [ -n "$(list_alive)" ] || return 0
    sleep 0.5
  done
  for pid in $(list_alive); do kill -9 "$pid" 2>/dev/null || true; done
}

case $1 in
  start) start "$3" "$4" ;;
  worker) start_worker ;;
  stop) stop ;;
esac
