#!/bin/sh
# Starts `pricelake mcp` with the client of PyPI's package mcp, calls every tool, and compares figures with the command line.
# What it makes stands in a temporary folder, or in $INTEROP_DIR.
set -eu
. "$(dirname "$0")/setup.sh"
environment agents 'mcp==2.3.0'
npm run -s build
main=$PWD/dist/cli/main.js
folder=$(mktemp -d)
node "$main" sandbox --items 300 --json >"$folder/sandbox.json" &
sandbox=$!
trap 'kill $sandbox; rm -rf "$folder"; [ -n "${INTEROP_DIR:-}" ] || rm -rf "$work"' EXIT
while [ ! -s "$folder/sandbox.json" ]; do sleep 0.2; done
read_json() { node -p "JSON.parse(require('fs').readFileSync('$folder/sandbox.json','utf8')).$1"; }
PRICELAKE_BASE_URL=$(read_json base_url)
PRICELAKE_API_KEY=$(read_json keys.live)
export PRICELAKE_BASE_URL PRICELAKE_API_KEY
cd "$folder"
node "$main" init prices.yaml --lake "$folder/lake" --quiet
node "$main" sync prices.yaml --quiet
node "$main" sandbox advance --url "$PRICELAKE_BASE_URL" --hours 3 --quiet
printf 'product,price,currency\nnone,3,EUR\n' >mine.csv
"$work/agents/bin/python" "$here/read_agents.py" "$main" "$folder/lake" "$folder/prices.yaml" "$folder/mine.csv"
