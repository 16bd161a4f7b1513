#!/bin/sh
# Runs other programs on the output of pricelake: sqlglot on load scripts, the Prometheus client on metrics, openlineage-python
# on events, datacontract-cli on the data contract, dbt-duckdb on the dbt source, engines on the Iceberg metadata and on a
# DuckLake catalog, Python on the page and the notebook for Python, and Airflow 2.10 and 3, Dagster and Prefect on the examples
# of pipelines/deploy. Each is installed from PyPI in its own environment in $INTEROP_DIR or a temporary folder. --page writes
# docs/background/deliveries.md. To run single parts:
# deliveries.sh formats|dbt|iceberg|ducklake|python|airflow2|airflow3|shards|dagster|prefect
set -eu
. "$(dirname "$0")/setup.sh"
failed=0
page=
[ "${1:-}" != --page ] || { page=docs/background/deliveries.md && shift; }
export RESULTS="$work/results.ndjson"
rm -f "$RESULTS"

formats() {
  environment formats 'sqlglot==30.30.0' 'prometheus-client' 'openlineage-python==1.54.0'
  environment contract 'datacontract-cli'
  rm -rf "$work/deliveries"
  npx tsx test/interop/write-deliveries.ts "$work/deliveries"
  "$work/formats/bin/python" "$here/read_deliveries.py" "$work/deliveries"
  "$work/contract/bin/datacontract" lint "$work/deliveries/contract.odcs.yaml"
  PYTHONPATH=$here "$work/contract/bin/python" -c 'from importlib.metadata import version
from noting import note
note("datacontract-cli", version("datacontract-cli"), "data contract (ODCS)", "valid")'
}
dbt() {
  # Later versions of dbt-core download a part of themselves.
  environment dbt 'dbt-core==1.10.23' 'dbt-duckdb==1.10.1' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  [ -f "$work/deliveries/done" ] || npx tsx test/interop/write-deliveries.ts "$work/deliveries"
  PYTHONPATH=$here PATH="$work/dbt/bin:$PATH" "$work/dbt/bin/python" "$here/try_dbt.py" "$work/deliveries" "$work/dbt-project"
}
iceberg() {
  environment iceberg 'pyiceberg[pyarrow]==0.12.0' 'polars==2.1.0' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  environment clickhouse 'chdb==4.4.0' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  # The extension of DuckDB is on PyPI for this version.
  environment duckdb 'duckdb==1.4.4' 'duckdb-ext-iceberg==1.4.4.20260205' 'duckdb-ext-avro==1.4.4.20260205' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  environment spark 'pyspark==3.5.9' 'delta-spark==3.3.2' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  rm -rf "$work/iceberg-lakes" && mkdir "$work/iceberg-lakes"
  npx tsx test/interop/write-iceberg.ts "$work/iceberg-lakes"
  for reader in iceberg:pyiceberg iceberg:polars clickhouse:clickhouse clickhouse:clickhouse-delta duckdb:duckdb spark:spark; do
    "$work/${reader%:*}/bin/python" "$here/read_iceberg.py" "$work/iceberg-lakes" "${reader#*:}"
  done
}
# Reads the lakes that iceberg() writes.
ducklake() {
  environment ducklake 'delta2ducklake==0.2.1' 'duckdb==1.5.5' 'duckdb-extensions==1.5.5' 'duckdb-extension-ducklake==1.5.5' 'deltalake==1.6.6' 'pyarrow==26.0.1'
  "$work/ducklake/bin/python" "$here/read_ducklake.py" "$work/iceberg-lakes"
}
python() {
  environment python 'duckdb==2.0.0' 'polars==2.1.0' 'deltalake==1.6.6' 'pandas==3.1.1' 'pyarrow==26.0.1' pytz matplotlib nbclient ipykernel
  npm run --silent build
  npx tsx test/interop/try-python.ts "$work/python/bin/python"
}
airflow2() { environment airflow2 'apache-airflow==2.10.5' && "$work/airflow2/bin/python" "$here/try_schedulers.py" airflow "$work/try2"; }
airflow3() { environment airflow3 'apache-airflow==3.3.2' && "$work/airflow3/bin/python" "$here/try_schedulers.py" airflow "$work/try3" && "$work/airflow3/bin/python" "$here/try_quota.py" "$work/quota3"; }
shards() { environment airflow3 'apache-airflow==3.3.2' && npm run --silent build && "$work/airflow3/bin/python" "$here/try_shards.py" "$work/shards3"; }
dagster() { environment dagster 'dagster==1.13.29' && "$work/dagster/bin/python" "$here/try_schedulers.py" dagster "$work/tryd"; }
prefect() { environment prefect 'prefect==3.8.8' 'fastapi==0.139.0' && "$work/prefect/bin/python" "$here/try_schedulers.py" prefect "$work/tryp"; }

for part in ${*:-formats dbt iceberg ducklake python airflow2 airflow3 shards dagster prefect}; do
  # In a condition `set -e` would not hold.
  set +e
  (
    set -e
    "$part"
  )
  code=$?
  set -e
  [ $code = 0 ] || { failed=1 && printf '{"tool":"%s","version":"","what":"all of it","result":"**failed, or could not be set up**"}\n' "$part" >>"$RESULTS"; }
done
[ -z "$page" ] || { python3 "$here/pages.py" deliveries "$RESULTS" >"$page" && npx biome check --write "$page"; }
exit $failed
