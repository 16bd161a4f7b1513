#!/bin/sh
# Tries lakes on object storage: a Ceph gateway on loopback (Debian: apt-get install radosgw ceph-mon ceph-osd), with
# wrong credentials, files in parts, faults between client and store, uploads and runs that are killed at their requests
# (KILLS), 1,000 rounds of two racing writers (ROUNDS), and two machines that run in turns. Then delta-rs, Polars, DuckDB's
# httpfs and Spark (--no-spark leaves it out) read what they published. --page writes docs/background/object-storage.md.
set -eu
. "$(dirname "$0")/setup.sh"
storage=$work/storage
if ! command -v radosgw >/dev/null || ! command -v ceph-osd >/dev/null; then
  echo 'object storage: not tested, Ceph is not installed (apt-get install radosgw ceph-mon ceph-osd)'
  exit 0
fi
trap '"$here/ceph.sh" stop "$storage/ceph"; rm -rf "$storage"; [ -n "${INTEROP_DIR:-}" ] || rm -rf "$work"' EXIT
spark=--spark page=
for option in "$@"; do
  case $option in
    --no-spark) spark='' ;;
    --page) page=docs/background/object-storage.md ;;
  esac
done
export RESULTS="$work/object-storage.ndjson"
rm -f "$RESULTS"

# The extension from PyPI fits this version of DuckDB.
mkdir -p "$storage/lakes"
environment storage/venv 'deltalake==1.6.6' 'polars==2.1.0' 'pyarrow==26.0.1' 'duckdb==1.5.5' 'duckdb-extension-httpfs==1.5.5'
[ -z "$spark" ] || environment storage/venv 'pyspark==3.5.9' 'delta-spark==3.3.2'

export AWS_ACCESS_KEY_ID=interop AWS_SECRET_ACCESS_KEY=interop-secret
port=$((20000 + $$ % 20000))
"$here/ceph.sh" start "$storage/ceph" "$port"
npx tsx test/interop/object-storage.ts "http://127.0.0.1:$port" "$storage/lakes"
"$storage/venv/bin/python" "$here/read_remote.py" "$storage/lakes" $spark
[ -z "$page" ] || {
  python3 "$here/pages.py" object-storage "$RESULTS" "$(radosgw --version | cut -d' ' -f3)" >"$page" && npx biome check --write "$page"
}
