#!/bin/sh
# Runs pipelines/spark/job.py on Spark 3.5 and 4.0 (PyPI and Maven Central, needs Java 17): four shards that share listings
# against one lake of all datasets, row by row, after their first runs and after two rounds of changes. ITEMS listings
# (default: 2,000), on a standalone master with three workers on loopback. The driver of the second job is killed in the
# middle, and a worker when that job runs again. Then the same first two jobs with the lakes and the output on an S3 server, if
# versitygw is installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0), and with Spark 3.5 the analyses.
set -eu
. "$(dirname "$0")/setup.sh"
shards=$work/shards
started=
stop() {
  for pid in $started; do kill -9 "$pid" 2>/dev/null || :; done
  started=
}
trap 'stop; [ -n "${INTEROP_DIR:-}" ] || rm -rf "$work"' EXIT

environment compare 'deltalake==1.6.6' 'duckdb==2.0.0' 'pyarrow==26.0.1'
environment spark35 'pyspark==3.5.9' 'delta-spark==3.3.2' 'sqlglot==30.30.0'
environment spark4 'pyspark==4.0.5' 'delta-spark==4.0.1' 'sqlglot==30.30.0'
[ -n "${KEEP_LAKES:-}" ] || {
  npm run --silent build
  npx tsx test/interop/write-shards.ts "$shards" "${ITEMS:-2000}"
}

# start_daemon CLASS ARGUMENTS…: a process of Spark's cluster; $daemon is its id.
start_daemon() {
  class=org.apache.spark.deploy.$1
  shift
  SPARK_DAEMON_MEMORY=256m SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON="$work/$env/bin/python" \
    "$work/$env/bin/spark-class" "$class" --host 127.0.0.1 --webui-port 0 "$@" >>"$shards/$env.cluster.log" 2>&1 &
  daemon=$!
  started="$started $daemon"
}

start_cluster() {
  master_port=$((20000 + $$ % 20000))
  start_daemon master.Master --port "$master_port"
  for number in 1 2 3; do
    start_daemon worker.Worker --cores 1 --memory 1g --work-dir "$shards/workers/$number" "spark://127.0.0.1:$master_port"
  done
}

# run_job LAKES OUTPUT OPTION…: becomes Spark's driver, so it runs in a shell of its own.
run_job() {
  lakes=$1 output=$2
  shift 2
  export PYSPARK_PYTHON="$work/$env/bin/python" SPARK_LOCAL_IP=127.0.0.1
  exec "$work/$env/bin/spark-submit" --master "spark://127.0.0.1:$master_port" --executor-memory 1g \
    --driver-memory 1g --driver-java-options -XX:TieredStopAtLevel=1 --conf spark.ui.enabled=false \
    --conf spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 --conf spark.log.level=ERROR \
    --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
    --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
    --conf spark.ui.showConsoleProgress=false --conf spark.sql.shuffle.partitions=4 "$@" \
    pipelines/spark/job.py --output "$output" --lake "$lakes/goods" --lake "$lakes/daily" \
    --lake "$lakes/central" --lake "$lakes/open" 2>>"$shards/$env.log"
}

# kill_in_job PID FILES: as soon as such a file is there, if the job in the background still runs.
kill_in_job() {
  while kill -0 "$job" 2>/dev/null; do
    # shellcheck disable=SC2086 # a pattern
    if ls $2 >/dev/null 2>&1; then
      kill -9 "$1"
      echo "$env: killed $1 in the job"
      return
    fi
    sleep 0.1
  done
  echo "$env: the job had ended before it could be disturbed"
  failed=1
}

tables='items products product_prices offers price_spread price_spread_daily matches sites sources shop_currencies offer_rules user_matches'

# compare STATE OUTPUT [TABLES]: with the lake of all datasets.
compare() {
  echo "$env, $2, $1:"
  "$work/compare/bin/python" "$here/compare_shards.py" "$2" "$shards/$1/all" ${3:-$tables} || failed=1
}

# try_analyses: on the tables of the last job.
try_analyses() {
  PYSPARK_PYTHON="$work/$env/bin/python" "$work/$env/bin/spark-submit" --master 'local[2]' --packages "$delta" \
    --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension --conf spark.log.level=ERROR \
    --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
    --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false --conf spark.sql.shuffle.partitions=2 \
    --driver-java-options -XX:TieredStopAtLevel=1 "$here/try_analyses.py" "$output" "$shards/third/all" "$work/compare/bin/python" 2>>"$shards/$env.log" || failed=1
}

failed=0
for try in ${SPARKS:-spark35=io.delta:delta-spark_2.12:3.3.2=org.apache.hadoop:hadoop-aws:3.3.4 \
  spark4=io.delta:delta-spark_2.13:4.0.1=org.apache.hadoop:hadoop-aws:3.4.1}; do
  env=${try%%=*} delta=${try#*=}
  aws=${delta#*=} delta=${delta%%=*}
  output=$shards/$env
  rm -rf "$output"
  start_cluster
  sleep 5

  ln -sfn "$shards/first/shards" "$shards/lakes"
  (run_job "$shards/lakes" "$output" --packages "$delta") || failed=1
  compare first "$output"

  ln -sfn "$shards/second/shards" "$shards/lakes"
  run_job "$shards/lakes" "$output" --packages "$delta" &
  job=$!
  kill_in_job "$job" "$output/_work/offers_*/_SUCCESS"
  wait "$job" || :
  # Each table has one version or the other.
  compare second "$output" 'products product_prices'
  compare first "$output" 'items price_spread_daily matches'
  # The stopped job left no such file yet.
  run_job "$shards/lakes" "$output" --packages "$delta" &
  job=$!
  kill_in_job "$daemon" "$output/_work/price_groups_*/_SUCCESS"
  wait "$job" || failed=1
  compare second "$output"

  ln -sfn "$shards/third/shards" "$shards/lakes"
  (run_job "$shards/lakes" "$output" --packages "$delta") || failed=1
  compare third "$output"

  if command -v versitygw >/dev/null; then
    # Its buckets are folders. The lakes are uploaded all the same, because an object needs an ETag.
    # Hadoop 3.3 deletes the marker of a folder after each file that it writes into it, which took a minute or more here.
    rm -rf "$shards/s3"
    mkdir -p "$shards/s3/lakes" "$shards/s3/out"
    s3=127.0.0.1:$((master_port + 1))
    ROOT_ACCESS_KEY=interop ROOT_SECRET_KEY=interop-secret versitygw --port "$s3" --quiet posix "$shards/s3" >>"$shards/s3.log" 2>&1 &
    started="$started $!"
    sleep 2
    for state in first second; do
      "$work/compare/bin/python" "$here/upload_folder.py" "$shards/$state/shards" "$s3" lakes
      (run_job s3a://lakes s3a://out/all --packages "$delta,$aws" \
        --conf "spark.hadoop.fs.s3a.endpoint=http://$s3" --conf spark.hadoop.fs.s3a.path.style.access=true \
        --conf spark.hadoop.fs.s3a.access.key=interop --conf spark.hadoop.fs.s3a.secret.key=interop-secret \
        --conf spark.hadoop.fs.s3a.endpoint.region=us-east-1 --conf spark.hadoop.fs.s3a.directory.marker.retention=keep) || failed=1
      compare "$state" "$shards/s3/out/all"
    done
  else
    echo 'S3: not tested, versitygw is not installed'
  fi
  stop
  [ "$env" != spark35 ] || try_analyses
done
exit $failed
