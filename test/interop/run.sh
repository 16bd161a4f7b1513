#!/bin/sh
# Writes lakes (hard values; and those that runs leave: of an upgraded version, compacted, with a retention) and reads
# them with other readers: delta-rs, Polars and DuckDB (PyPI), with --spark also Apache Spark
# (PyPI and Maven Central, needs Java 17). Everything it makes stands in a temporary folder, or in $INTEROP_DIR.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${INTEROP_DIR:-$(mktemp -d)}
[ -n "${INTEROP_DIR:-}" ] || trap 'rm -rf "$work"' EXIT

if [ ! -x "$work/venv/bin/python" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet 'deltalake==1.6.6' 'polars==2.1.0' 'duckdb==2.0.0' 'pyarrow==26.0.1' pytz
fi
case " $* " in
  *' --spark '*) "$work/venv/bin/pip" install --quiet 'pyspark==3.5.9' 'delta-spark==3.3.2' ;;
esac

rm -rf "$work/data" "$work/states"
mkdir "$work/data" "$work/states"
(cd "$here/../.." && npx tsx test/interop/write-lake.ts "$work/data" && npx tsx test/interop/write-states.ts "$work/states")
export PYTHONDONTWRITEBYTECODE=1
"$work/venv/bin/python" "$here/read_lake.py" "$work/data" "$@"
"$work/venv/bin/python" "$here/read_states.py" "$work/states" "$@"
