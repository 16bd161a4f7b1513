#!/bin/sh
# Fuzzes the sandbox with Schemathesis (PyPI) against its own /openapi.json: no 5xx, no status, header, media type or
# body that the document does not describe. Needs the built code (npm run build). Prints a report in Markdown: counts by
# check and by answer. Everything it makes stands in a temporary folder, or in $INTEROP_DIR (the report as fuzz.md).
# FUZZ_EXAMPLES: cases an endpoint; FUZZ_SEED: the same seed asks the same; FUZZ_PLANS: plans of the account, one run
# each. Takes two to four minutes, ten a plan at most.
set -eu
. "$(dirname "$0")/setup.sh"
server=
stop_server() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  server=
}
clean_up() {
  stop_server
  [ -n "${INTEROP_DIR:-}" ] || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

environment fuzz-venv 'schemathesis==4.32.5'

start_server() {
  rm -f "$work/sandbox.json"
  node "$here/../../dist/cli/main.js" sandbox --json --rate 0 --plan "$1" --items 600 >"$work/sandbox.json" &
  server=$!
  for _ in $(seq 100); do
    [ ! -s "$work/sandbox.json" ] || break
    kill -0 "$server"
    sleep 0.2
  done
}
read_json() { node -p "JSON.parse(require('fs').readFileSync('$work/sandbox.json', 'utf8')).$1"; }

# In the work folder, so that what Schemathesis keeps of its runs stands there.
cd "$work"
: >"$work/fuzz.md"
failed=0
for plan in ${FUZZ_PLANS:-unlimited free}; do
  start_server "$plan"
  base=$(read_json base_url)
  DO_NOT_TRACK=1 SCHEMATHESIS_HOOKS=fuzz_hooks PYTHONPATH="$here" \
    FUZZ_BASE="$base" FUZZ_KEY="$(read_json keys.live)" \
    timeout 600 "$work/fuzz-venv/bin/schemathesis" --config-file "$here/fuzz.toml" run "$base/openapi.json" \
    --header "Authorization: Bearer $(read_json keys.live)" --report-ndjson-path "$work/fuzz.ndjson" \
    --max-examples "${FUZZ_EXAMPLES:-100}" --seed "${FUZZ_SEED:-1}" --no-color || failed=1
  stop_server
  python3 "$here/fuzz_report.py" "$plan" "$work/fuzz.ndjson" >>"$work/fuzz.md"
  rm -f "$work/fuzz.ndjson"
done
cat "$work/fuzz.md"
exit $failed
