#!/bin/sh
# Runs pipelines/spark/job.py on Spark 3.5 and 4.0 (PyPI and Maven Central, needs Java 17): four shards that share listings
# against one lake of all datasets, row by row, after their first runs and after two rounds of changes. ITEMS listings
# (default: 2,000), on the master MASTER (default: local[2]).
set -eu
. "$(dirname "$0")/setup.sh"
shards=$work/shards

environment compare 'deltalake==1.6.6' 'duckdb==2.0.0' 'pyarrow==26.0.1'
environment spark35 'pyspark==3.5.9' 'delta-spark==3.3.2' 'sqlglot==30.30.0'
environment spark4 'pyspark==4.0.5' 'delta-spark==4.0.1' 'sqlglot==30.30.0'
npm run --silent build
npx tsx test/interop/write-shards.ts "$shards" "${ITEMS:-2000}"

# run_job ENVIRONMENT PACKAGE: a process of its own, which is Spark's driver.
run_job() (
  export PYSPARK_PYTHON="$work/$1/bin/python"
  exec "$work/$1/bin/spark-submit" --master "${MASTER:-local[2]}" --packages "$2" --conf spark.ui.enabled=false \
    --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension --conf spark.log.level=ERROR \
    --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
    --conf spark.ui.showConsoleProgress=false --conf spark.sql.shuffle.partitions=4 \
    pipelines/spark/job.py --output "$shards/$1" --lake "$shards/lakes/goods" --lake "$shards/lakes/daily" \
    --lake "$shards/lakes/central" --lake "$shards/lakes/open" 2>>"$shards/$1.log"
)

failed=0
for try in 'spark35 io.delta:delta-spark_2.12:3.3.2' 'spark4 io.delta:delta-spark_2.13:4.0.1'; do
  # shellcheck disable=SC2086 # an environment and its package
  set -- $try
  rm -rf "${shards:?}/$1"
  for state in first second third; do
    ln -sfn "$shards/$state/shards" "$shards/lakes"
    run_job "$@"
    echo "$1, $state:"
    "$work/compare/bin/python" "$here/compare_shards.py" "$shards/$1" "$shards/$state/all" items products product_prices \
      offers price_spread price_spread_daily matches sites sources shop_currencies offer_rules user_matches || failed=1
  done
done
exit $failed
