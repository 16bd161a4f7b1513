"""docs/reference/spark.md, of what was noted."""

import json
import sys
from pathlib import Path

print("""# Spark that was tried

`npm run interop` writes this page: real Spark on two cores of one machine (`local[2]`) runs the programs of
`pipelines/spark`, and every row is compared with what pricelake makes of the same tables, or of the same landing.
[More than one machine](../guides/scale.md) says what for. Landings are compared without the times at which rows were found,
and without items that `stale_items` leaves to the next run; these are compared after it.

| version | what | result |
| --- | --- | --- |""")
for line in Path(sys.argv[1]).read_text().splitlines():
    one = json.loads(line)
    print("| " + " | ".join(one[name].replace("|", "\\|") for name in ("version", "what", "result")) + " |")
