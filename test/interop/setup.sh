# Sourced by the scripts beside it. $work is the folder of all that they make: $INTEROP_DIR, or a temporary one.
here=$(cd "$(dirname "$0")" && pwd)
work=${INTEROP_DIR:-$(mktemp -d)}
[ -n "${INTEROP_DIR:-}" ] || trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 TZ=UTC
cd "$here/../.."

# environment NAME PACKAGE…: a virtual environment with these, once.
environment() {
  name=$1
  shift
  [ -x "$work/$name/bin/python" ] || python3 -m venv "$work/$name"
  "$work/$name/bin/pip" install --quiet "$@"
}
