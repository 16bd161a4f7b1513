"""measure.py RESULT COMMAND...: runs a command and writes its seconds, CPU seconds and largest process to RESULT."""
import json
import resource
import subprocess
import sys
import time

result, *command = sys.argv[1:]
begun = time.monotonic()
code = subprocess.run(command, check=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(result, "w", encoding="utf-8") as file:
    cost = {"seconds": time.monotonic() - begun, "cpuSeconds": used.ru_utime + used.ru_stime}
    json.dump({**cost, "peakBytes": used.ru_maxrss * 1024}, file)
sys.exit(code)
