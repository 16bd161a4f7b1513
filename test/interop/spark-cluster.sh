#!/bin/sh
# Runs pipelines/spark on a cluster of three workers (cluster.sh), with tables on object storage (ceph.sh; Debian: apt-get
# install radosgw ceph-mon ceph-osd), and compares all rows with DuckDB's; then again, while a worker is killed in each
# EVERY-th stage of a name (default 5): spark-cluster.sh [EVERY]. Then `sync` on this cluster: by a shared folder, and by object
# storage, with a cluster that does not see the lakes. Spark is from PyPI and Maven Central; needs Java 17, and root to hide a folder.
set -eu
. "$(dirname "$0")/setup.sh"
every=${1:-5} cluster=$work/cluster ceph=$work/cluster-storage port=$((20000 + $$ % 20000))
rm -rf "$cluster" "$ceph" "$work/cluster-data"
killer=
trap '[ -z "$killer" ] || kill "$killer" 2>/dev/null || true; "$here/cluster.sh" stop "$cluster"; "$here/ceph.sh" stop "$ceph"' EXIT
export SPARK_LOCAL_IP=127.0.0.1 AWS_ACCESS_KEY_ID=interop AWS_SECRET_ACCESS_KEY=interop-secret
environment on-cluster 'pyspark==3.5.9' 'delta-spark==3.3.2' 'pyarrow==26.0.1'
export PYSPARK_PYTHON="$work/on-cluster/bin/python"

# Ceph's gateway refuses the empty objects that stand for folders if they come with the newer signatures.
signed="--conf spark.hadoop.fs.s3a.signing-algorithm=S3SignerType"
# A driver that pricelake starts gets none of its credentials.
keys="$signed --conf spark.hadoop.fs.s3a.access.key=$AWS_ACCESS_KEY_ID --conf spark.hadoop.fs.s3a.secret.key=$AWS_SECRET_ACCESS_KEY"
storage="--conf spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:$((port + 10)) --conf spark.hadoop.fs.s3a.path.style.access=true
  --conf spark.hadoop.fs.s3a.connection.ssl.enabled=false $signed"
quiet='--conf spark.ui.showConsoleProgress=false --conf spark.log.level=ERROR'
jars="$work/ivy/jars/*"

# submit PROGRAM…: on the cluster. Its programs are on each worker's disk, as on a cluster that is set up once.
submit() {
  # shellcheck disable=SC2086
  "$work/on-cluster/bin/spark-submit" --master "$(cat "$cluster/master")" --driver-memory 2g --executor-memory 1g \
    --conf spark.driver.extraClassPath="$jars" --conf spark.executor.extraClassPath="$jars" --conf spark.driver.host=127.0.0.1 \
    --conf spark.sql.shuffle.partitions=3 --conf spark.default.parallelism=3 --conf spark.stage.maxConsecutiveAttempts=20 \
    --conf spark.task.maxFailures=20 $storage $quiet "$@" 2>"$work/cluster.log" || { tail -60 "$work/cluster.log" && return 1; }
}

# copy FROM TO: by Hadoop's own file systems.
copy() {
  # shellcheck disable=SC2086
  "$work/on-cluster/bin/spark-submit" --master 'local[1]' --packages io.delta:delta-spark_2.12:3.3.2,org.apache.hadoop:hadoop-aws:3.3.4 \
    --conf spark.jars.ivy="$work/ivy" --conf spark.ui.enabled=false $storage $quiet "$here/copy_tables.py" "$1" "$2" 2>"$work/cluster.log" \
    || { tail -60 "$work/cluster.log" && return 1; }
}

npx tsx test/interop/write-spark.ts "$work/cluster-data"
data=$work/cluster-data/hard
"$here/ceph.sh" start "$ceph" "$((port + 10))"
"$work/on-cluster/bin/python" -c "
import pyarrow.fs
s3 = pyarrow.fs.S3FileSystem(access_key='interop', secret_key='interop-secret', endpoint_override='http://127.0.0.1:$((port + 10))',
  region='us-east-1', allow_bucket_creation=True)
s3.create_dir('lakes')"
copy "file://$data/lake" s3a://lakes/hard
"$here/cluster.sh" start "$cluster" "$port" "$("$PYSPARK_PYTHON" -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')"

# compare WHAT: rows of the derived tables by Spark and by DuckDB.
tables=products,product_prices,shop_currencies,offers,price_spread,matches,price_spread_daily
rm -rf "$data/some"
mkdir "$data/some"
for table in $(echo $tables | tr , ' '); do cp "$data/expected/$table.parquet" "$data/some"; done
compare() {
  submit "$here/../../pipelines/spark/spread.py" --lake s3a://lakes/hard --to "s3a://lakes/$1" --tables $tables \
    --first-day 2026-11-10 --last-day 2026-11-19
  copy "s3a://lakes/$1" "file://$data/$1"
  [ ! -e "$data/$1/_steps" ] || { echo "FAILED $1: kept steps are still there" && return 1; }
  "$PYSPARK_PYTHON" "$here/read_spark.py" "$data/some" "$data/$1" "3.5.9, $1" hard
}

# lose_workers FILE: kills workers beside the next program, and writes how many to FILE.
lose_workers() {
  python3 "$here/kill_workers.py" "$cluster" "$every" "$1" &
  killer=$!
}

# tell_losses WHAT FILE KIND…: waits for the killer, which must have killed a worker during each of these kinds of tasks.
tell_losses() {
  wait "$killer" || failed=1
  killer=
  echo "$1: $(cat "$2")"
  what=$1 file=$2
  shift 2
  for kind in "$@"; do
    grep -q "\"$kind\": " "$file" || { echo "FAILED $what: no worker was killed during a task of kind $kind" && failed=1; }
  done
}

failed=0
compare cluster || failed=1
lose_workers "$work/killed-spread.json"
compare cluster-with-losses || failed=1
tell_losses spread.py "$work/killed-spread.json"
spark=$("$PYSPARK_PYTHON" -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')
store="http://127.0.0.1:$((port + 10))"
engine="$work/on-cluster/bin/spark-submit --master $(cat "$cluster/master") --driver-memory 2g --executor-memory 1g
  --conf spark.driver.host=127.0.0.1 --conf spark.task.maxFailures=20 --conf spark.sql.shuffle.partitions=3 $quiet"
lose_workers "$work/killed-engine.json"
# shellcheck disable=SC2086
npx tsx test/interop/try-engine.ts 3.5.9 $engine || failed=1
tell_losses sync "$work/killed-engine.json" type part rows slice check

# Machines that share nothing but the storage.
"$here/cluster.sh" stop "$cluster"
rm -rf "$cluster" "$work/lakes"
mkdir "$work/lakes"
export HIDDEN="$work/lakes"
port=$((port + 20))
"$here/cluster.sh" start "$cluster" "$port" "$spark"
engine="$work/on-cluster/bin/spark-submit --master $(cat "$cluster/master") --driver-memory 1g --executor-memory 1g
  --conf spark.driver.host=127.0.0.1 --conf spark.task.maxFailures=20 --conf spark.sql.shuffle.partitions=3 $quiet
  --conf spark.driver.extraClassPath=$jars --conf spark.executor.extraClassPath=$jars $keys"
# shellcheck disable=SC2086
npx tsx test/interop/try-remote.ts "$store" "$work/lakes" life $engine || failed=1
# shellcheck disable=SC2086
npx tsx test/interop/try-remote.ts "$store" "$work/lakes" questions $engine || failed=1
lose_workers "$work/killed-remote.json"
# shellcheck disable=SC2086
npx tsx test/interop/try-remote.ts "$store" "$work/lakes" losses $engine || failed=1
tell_losses 'sync by object storage' "$work/killed-remote.json" type part rows slice check
exit $failed
