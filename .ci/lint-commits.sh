#!/usr/bin/env bash
# Names new commits whose subject is not a sentence of at most 72 characters that begins with a verb, or that have no body.
set -euo pipefail
cd "$(dirname "$0")/.."

# Older subjects are longer.
readonly SINCE=2026-11-28T13:00:00Z

faults=$(git log --no-merges --since="$SINCE" --format='%h%x09%s%x09%b%x1e' 2>/dev/null | awk 'BEGIN { FS = "\t"; RS = "\036" }
  { sub(/^\n/, "") }
  $2 == "" { next }
  length($2) > 72 { print $1 ": the subject has " length($2) " characters, not at most 72: " $2 }
  $2 !~ /^[A-Z][a-z-]+ .*[^.]$/ { print $1 ": the subject is not a capitalized sentence without a full stop: " $2 }
  $2 ~ /^(The|This|That|It|An|There|No|Now|Each|Every) / { print $1 ": the subject does not begin with a verb in the imperative: " $2 }
  $3 !~ /[a-z]/ { print $1 ": the body does not say why: " $2 }')
if [ -n "$faults" ]; then
  printf '%s\n' "$faults"
  exit 1
fi
