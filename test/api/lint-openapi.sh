#!/bin/sh
# Checks the OpenAPI document with two linters that bring 240 packages along, so they are no dependency of this project:
# they are installed in a temporary folder, or in $OPENAPI_LINT_DIR, where they stay for the next time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${OPENAPI_LINT_DIR:-$(mktemp -d)}
[ -n "${OPENAPI_LINT_DIR:-}" ] || trap 'rm -rf "$work"' EXIT

if [ ! -x "$work/node_modules/.bin/spectral" ]; then
  npm install --silent --ignore-scripts --no-save --prefix "$work" '@stoplight/spectral-cli@6.16.3' '@redocly/cli@2.77.0'
fi
printf 'extends: ["spectral:oas"]\n' >"$work/spectral.yaml"
document=$(cd "$here/../.." && pwd)/schemas/openapi.json
cd "$work"
node_modules/.bin/spectral lint "$document" --ruleset spectral.yaml --fail-severity warn
REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint "$document"
