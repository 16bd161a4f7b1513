#!/bin/sh
# Stands for pricelake: each call ends with the next code of $STUB_CODES, and says what the command would.
[ -z "$STUB_LOG" ] || echo "$*" >>"$STUB_LOG"
code=$(head -n 1 "$STUB_CODES"); sed -i 1d "$STUB_CODES"
case ${code:-0} in
  0) echo '{"ok":true,"run_id":"000001-x","items":5,"received":5,"written":5,"rejected":0,"calls":7}' ;;
  5) echo "{\"ok\":false,\"error\":{\"code\":\"quota\",\"message\":\"used up\",\"next_run_at\":\"$(date -u -d '+4 seconds' +%Y-%m-%dT%H:%M:%S.000Z)\"}}" ;;
  *) echo "{\"ok\":false,\"error\":{\"code\":\"x\",\"message\":\"code $code\"}}" ;;
esac
exit "${code:-0}"
