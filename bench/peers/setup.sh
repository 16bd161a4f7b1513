#!/bin/sh
# Makes the Python environment of the peers in the folder $1 (PyPI; nothing of it is part of pricelake).
set -eu
venv=$1/venv
[ ! -x "$venv/bin/dlt" ] || [ ! -x "$venv/bin/target-parquet" ] || exit 0
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet 'dlt[filesystem,parquet]==1.31.0' 'pyarrow==26.0.1' 'singer-sdk==0.54.9' 'duckdb==2.0.0' requests
# The SDK's Parquet target is in its source archive only.
"$venv/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$1/sdk" 'singer-sdk==0.54.9'
tar -xzf "$1"/sdk/singer_sdk-*.tar.gz -C "$1/sdk"
SETUPTOOLS_SCM_PRETEND_VERSION=0.54.9 "$venv/bin/pip" install --quiet --no-deps "$1"/sdk/singer_sdk-*/packages/meltano-target-parquet
