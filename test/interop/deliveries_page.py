"""docs/reference/deliveries.md, from what the programs noted."""

import json
import sys
from pathlib import Path

print("""# Programs that were tried

`npm run interop` writes this page. It lets each program read the output of runs of the sandbox.
For exit codes, a stub takes the place of pricelake and returns one code for each pipeline.

| program | version | what | result |
| --- | --- | --- | --- |""")
for line in Path(sys.argv[1]).read_text().splitlines():
    one = json.loads(line)
    if one["what"].startswith("calls"):
        continue
    print("| " + " | ".join(one[name].replace("|", "\\|") for name in ("tool", "version", "what", "result")) + " |")
