#!/bin/sh
# Writes lakes (hard values; those that runs leave: compacted, with a retention, with tables
# without rows; and those that other programs write to) and reads every table of them with other readers: pandas,
# pyarrow, Polars, delta-rs, DuckDB (PyPI) and Apache Spark (PyPI and Maven Central, needs Java 17; --no-spark leaves it
# out). --page writes docs/background/interop.md. Everything else that it makes stands in a temporary folder, or in $INTEROP_DIR.
set -eu
. "$(dirname "$0")/setup.sh"
spark=--spark engines='delta-rs Spark' page=
for option in "$@"; do
  case $option in
    --no-spark) spark='' engines=delta-rs ;;
    --page) page="--page $here/../../docs/background/interop.md" ;;
  esac
done

environment venv 'deltalake==1.6.6' 'polars==2.1.0' 'duckdb==2.0.0' 'pyarrow==26.0.1' 'pandas==3.1.1' pytz
environment indices 'pyindexnum==0.4.0' 'PriceIndexCalc2==0.8.0' # it needs an older pandas
[ -z "$spark" ] || environment venv 'pyspark==3.5.9' 'delta-spark==3.3.2'

rm -rf "$work/data" "$work/states"
python=$work/venv/bin/python
mkdir "$work/data" "$work/states"
npx tsx test/interop/write-lake.ts "$work/data"
npx tsx test/interop/write-states.ts "$work/states" "$python" $engines
failed=0
"$python" "$here/read_lake.py" "$work/data" $spark || failed=1
"$python" "$here/read_states.py" "$work/states" $spark $page || failed=1
"$work/indices/bin/python" "$here/price_index.py" --check "$here/../analyze/price-index.json" || failed=1
[ -z "$page" ] || npx biome check --write docs/background/interop.md
exit $failed
