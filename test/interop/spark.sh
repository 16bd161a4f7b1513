#!/bin/sh
# Real Spark, 3.5 and 4, runs what pipelines/spark has, and its tables are compared with DuckDB's, row by row. PySpark and
# delta-spark are from PyPI and Maven Central, in environments of their own in $INTEROP_DIR or a temporary folder; needs
# Java 17. --page writes docs/background/spark.md. $SPARK_ITEMS names a file of items (NDJSON, gzip) that is tried as well.
# One version alone: spark.sh spark35|spark4
set -eu
. "$(dirname "$0")/setup.sh"
export SPARK_LOCAL_IP=127.0.0.1
page=
[ "${1:-}" != --page ] || { page=docs/background/spark.md && shift; }
export RESULTS="$work/spark.ndjson"
rm -rf "$RESULTS" "$work/spark-data"

# On two cores of this machine, as it would be on a cluster.
quiet='--conf spark.log.level=ERROR --conf spark.ui.showConsoleProgress=false --conf spark.sql.shuffle.partitions=2'
local="--master local[2] --driver-memory 3g --conf spark.ui.enabled=false $quiet"

# Whatever has a query; offers of each day are only read by others.
tables=$(cd pipelines/spark/sql && ls -- *.sql | sed 's/\.sql$//' | grep -v '^offer_prices$' | paste -sd, -)

# submit PROGRAM WORLD OPTION…: over the tables of a lake.
submit() {
  program=$1 data=$work/spark-data/$2
  shift 2
  # shellcheck disable=SC2086
  "$work/$version/bin/spark-submit" $local --packages "$package" "$program" --lake "$data/lake" --to "$work/spark-data/made [x]" \
    --tables "$tables" --first-day 2026-11-10 --last-day 2026-11-19 --fx "$data/rates.csv" --weights "$data/weights.csv" \
    --tree "$data/tree.csv" "$@" 2>"$work/$version.log" || { tail -40 "$work/$version.log" && return 1; }
}

# spread WORLD: the derived tables and analyses of a lake, compared.
spread() {
  rm -rf "$work/spark-data/made [x]"
  submit pipelines/spark/spread.py "$1" --set lags=1,3,7 --set step=2 --set pass_weeks=1 --set period=week --set window_periods=4 \
    --set relaunches=any --set top=400 --set own_site="$(cat "$work/spark-data/$1/own_site")" || return 1
  "$work/compare/bin/python" "$here/read_spark.py" "$work/spark-data/$1/expected" "$work/spark-data/made [x]" "$number" "$1"
}

environment compare 'sqlglot==30.30.0' 'pyarrow==26.0.1' 'PyYAML'
"$work/compare/bin/python" pipelines/spark/generate.py --check
npx tsx test/interop/write-spark.ts "$work/spark-data" ${SPARK_ITEMS:+"$SPARK_ITEMS"}
failed=0
for version in ${*:-spark35 spark4}; do
  case $version in
    spark35) packages='pyspark==3.5.9 delta-spark==3.3.2' package=io.delta:delta-spark_2.12:3.3.2 ;;
    spark4) packages='pyspark==4.0.5 delta-spark==4.0.1' package=io.delta:delta-spark_2.13:4.0.1 ;;
  esac
  # shellcheck disable=SC2086
  environment "$version" $packages
  export PYSPARK_PYTHON="$work/$version/bin/python"
  number=$("$PYSPARK_PYTHON" -c 'import pyspark; print(pyspark.__version__)')
  submit "$here/plan_spark.py" hard || failed=1
  for world in hard ${SPARK_ITEMS:+given}; do
    spread "$world" || failed=1
  done
  # shellcheck disable=SC2086
  npx tsx test/interop/try-engine.ts "$number" "$work/$version/bin/spark-submit" $local || failed=1
  # shellcheck disable=SC2086
  [ $version != spark35 ] || npx tsx test/interop/try-guide.ts "$number" "$work/$version/bin" --driver-memory 2g --executor-memory 1g $quiet || failed=1
done
[ -z "$page" ] || { python3 "$here/pages.py" spark "$RESULTS" >"$page" && npx biome check --write "$page"; }
exit $failed
