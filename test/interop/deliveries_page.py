"""docs/reference/deliveries.md, of what the programs noted."""

import json
import sys
from pathlib import Path

print("""# Programs that were tried

`npm run interop` writes this page. It makes what other programs take from runs of the sandbox, and tries it with each program.
Exit codes are those of a stub that stands for pricelake, one a pipeline.

| program | version | what | result |
| --- | --- | --- | --- |""")
for line in Path(sys.argv[1]).read_text().splitlines():
    one = json.loads(line)
    if one["what"].startswith("calls"):
        continue
    print("| " + " | ".join(one[name].replace("|", "\\|") for name in ("tool", "version", "what", "result")) + " |")
