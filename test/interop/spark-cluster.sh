#!/bin/sh
# Runs pipelines/spark on a cluster of three workers (cluster.sh), with tables on object storage (ceph.sh; Debian: apt-get
# install radosgw ceph-mon ceph-osd), and compares all rows with DuckDB's; then again, while a worker is killed in each
# EVERY-th stage of a name (default 5). Then `sync` on this cluster: by a shared folder, and by object storage, with a cluster
# that does not see the lakes. Spark is from PyPI and Maven Central; needs Java 17, and root to hide a folder.
# Some parts alone: spark-cluster.sh EVERY [spread] [folder] [life] [questions] [losses]
set -eu
. "$(dirname "$0")/setup.sh"
every=${1:-5} cluster=$work/cluster ceph=$work/cluster-storage port=$((20000 + $$ % 20000))
[ $# = 0 ] || shift
parts=" ${*:-spread folder life questions losses} "
rm -rf "$cluster" "$ceph" "$work/cluster-data" "$work/lakes"
killer=
stop() {
  [ -z "$killer" ] || kill "$killer" 2>/dev/null || true
  "$here/cluster.sh" stop "$cluster"
  "$here/ceph.sh" stop "$ceph"
  [ -n "${INTEROP_DIR:-}" ] || rm -rf "$work" || true
}
trap stop EXIT
trap 'exit 130' INT TERM
export SPARK_LOCAL_IP=127.0.0.1 AWS_ACCESS_KEY_ID=interop AWS_SECRET_ACCESS_KEY=interop-secret
environment on-cluster 'pyspark==3.5.9' 'delta-spark==3.3.2' 'pyarrow==26.0.1'
export PYSPARK_PYTHON="$work/on-cluster/bin/python"
spark=$("$PYSPARK_PYTHON" -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')
store="http://127.0.0.1:$((port + 10))"

# Ceph's gateway refuses the empty objects that stand for folders if they come with the newer signatures.
signed="--conf spark.hadoop.fs.s3a.signing-algorithm=S3SignerType"
# A driver that pricelake starts gets none of its credentials.
keys="$signed --conf spark.hadoop.fs.s3a.access.key=$AWS_ACCESS_KEY_ID --conf spark.hadoop.fs.s3a.secret.key=$AWS_SECRET_ACCESS_KEY"
storage="--conf spark.hadoop.fs.s3a.endpoint=$store --conf spark.hadoop.fs.s3a.path.style.access=true
  --conf spark.hadoop.fs.s3a.connection.ssl.enabled=false $signed"
# Spark's own pages, by which workers are killed in each kind of task: another program has 4040, if it came first.
ui=$((port + 2))
quiet="--conf spark.ui.port=$ui --conf spark.ui.showConsoleProgress=false --conf spark.log.level=ERROR"
jars="$work/ivy/jars/*"
# Longer than anything takes on two cores: a wait without an end fails.
limit='timeout --foreground 2400'

# submit PROGRAM…: on the cluster. Its programs are on each worker's disk, as on a cluster that is set up once.
submit() {
  # shellcheck disable=SC2086
  $limit "$work/on-cluster/bin/spark-submit" --master "$(cat "$cluster/master")" --driver-memory 2g --executor-memory 1g \
    --conf spark.driver.extraClassPath="$jars" --conf spark.executor.extraClassPath="$jars" --conf spark.driver.host=127.0.0.1 \
    --conf spark.sql.shuffle.partitions=3 --conf spark.default.parallelism=3 --conf spark.stage.maxConsecutiveAttempts=20 \
    --conf spark.task.maxFailures=20 $storage $quiet "$@" 2>"$work/cluster.log" || tell_log "$1" $?
}

# copy FROM TO: by Hadoop's own file systems.
copy() {
  # shellcheck disable=SC2086
  $limit "$work/on-cluster/bin/spark-submit" --master 'local[1]' --packages io.delta:delta-spark_2.12:3.3.2,org.apache.hadoop:hadoop-aws:3.3.4 \
    --conf spark.jars.ivy="$work/ivy" --conf spark.ui.enabled=false $storage $quiet "$here/copy_tables.py" "$1" "$2" 2>"$work/cluster.log" \
    || tell_log "copy of $1" $?
}

# tell_log WHAT CODE: what Spark said last, of a program that failed.
tell_log() {
  tail -60 "$work/cluster.log"
  echo "FAILED $1 ended with $2"
  return 1
}

# compare WHAT: rows of the derived tables by Spark and by DuckDB.
tables=products,product_prices,shop_currencies,offers,price_spread,matches,price_spread_daily
compare() {
  submit "$here/../../pipelines/spark/spread.py" --lake s3a://lakes/hard --to "s3a://lakes/$1" --tables $tables \
    --first-day 2026-11-10 --last-day 2026-11-19 || return 1
  copy "s3a://lakes/$1" "file://$data/$1" || return 1
  [ ! -e "$data/$1/_steps" ] || { echo "FAILED $1: kept steps are still there" && return 1; }
  "$PYSPARK_PYTHON" "$here/read_spark.py" "$data/some" "$data/$1" "3.5.9, $1" hard
}

# lose_workers FILE: kills workers beside the next program, and writes how many to FILE.
lose_workers() {
  rm -f "$1"
  python3 "$here/kill_workers.py" "$cluster" "$ui" "$every" "$1" &
  killer=$!
}

# tell_losses WHAT FILE KIND…: waits for the killer, which must have killed a worker during each of these kinds of tasks.
tell_losses() {
  what=$1 file=$2
  shift 2
  wait "$killer" || failed=1
  killer=
  [ -f "$file" ] || { echo "FAILED $what: the program that kills workers ended early" && failed=1 && return; }
  echo "$what: $(cat "$file")"
  for kind in "$@"; do
    grep -q "\"$kind\": " "$file" || { echo "FAILED $what: no worker was killed during a task of kind $kind" && failed=1; }
  done
}

# part NAME: whether it is to run. Says when it begins.
part() {
  case $parts in
    *" $1 "*) echo "$(date -u +%T) $1" ;;
    *) return 1 ;;
  esac
}

# try PROGRAM OPTION…: of this folder.
try() {
  program=$1 code=0
  shift
  $limit node --import tsx "$here/$program" "$@" || code=$?
  [ $code = 0 ] || { echo "FAILED $program ended with $code" && failed=1; }
}

failed=0
npx tsx test/interop/write-spark.ts "$work/cluster-data"
data=$work/cluster-data/hard
"$here/ceph.sh" start "$ceph" "$((port + 10))"
"$PYSPARK_PYTHON" -c "
import pyarrow.fs
s3 = pyarrow.fs.S3FileSystem(access_key='interop', secret_key='interop-secret', endpoint_override='$store', region='us-east-1',
  allow_bucket_creation=True)
s3.create_dir('lakes')"
copy "file://$data/lake" s3a://lakes/hard
"$here/cluster.sh" start "$cluster" "$port" "$spark"
mkdir "$data/some"
for table in $(echo $tables | tr , ' '); do cp "$data/expected/$table.parquet" "$data/some"; done

if part spread; then
  compare cluster || failed=1
  lose_workers "$work/killed-spread.json"
  compare cluster-with-losses || failed=1
  tell_losses spread.py "$work/killed-spread.json"
fi

engine="$work/on-cluster/bin/spark-submit --master $(cat "$cluster/master") --driver-memory 2g --executor-memory 1g
  --conf spark.driver.host=127.0.0.1 --conf spark.task.maxFailures=20 --conf spark.sql.shuffle.partitions=3 $quiet"
if part folder; then
  lose_workers "$work/killed-engine.json"
  # shellcheck disable=SC2086
  try try-engine.ts 3.5.9 $engine
  tell_losses sync "$work/killed-engine.json" type part rows slice check
fi

# Machines that share nothing but the storage.
"$here/cluster.sh" stop "$cluster"
rm -rf "$cluster"
mkdir "$work/lakes"
export HIDDEN="$work/lakes"
port=$((port + 20))
"$here/cluster.sh" start "$cluster" "$port" "$spark"
engine="$work/on-cluster/bin/spark-submit --master $(cat "$cluster/master") --driver-memory 1g --executor-memory 1g
  --conf spark.driver.host=127.0.0.1 --conf spark.task.maxFailures=20 --conf spark.sql.shuffle.partitions=3 $quiet
  --conf spark.driver.extraClassPath=$jars --conf spark.executor.extraClassPath=$jars $keys"
# shellcheck disable=SC2086
! part life || try try-remote.ts "$store" "$work/lakes" life $engine
# shellcheck disable=SC2086
! part questions || try try-remote.ts "$store" "$work/lakes" questions $engine
if part losses; then
  lose_workers "$work/killed-remote.json"
  # shellcheck disable=SC2086
  try try-remote.ts "$store" "$work/lakes" losses $engine
  tell_losses 'sync by object storage' "$work/killed-remote.json" type part rows slice check
fi
echo "$(date -u +%T) end"
exit $failed
