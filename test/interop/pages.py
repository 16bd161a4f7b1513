"""A page of docs/reference, of what was noted: pages.py deliveries|spark|object-storage <results> [<version of Ceph>]"""

import json
import sys
from pathlib import Path

HEADS = {
    "deliveries": ("tool", "version", "what", """# Programs that were tried

`npm run interop` writes this page. It lets each program read the output of runs of the sandbox.
For exit codes, a stub takes the place of pricelake and returns one code for each pipeline."""),
    "spark": ("version", "what", """# Spark that was tried

`npm run interop` writes this page: real Spark on two cores of one machine (`local[2]`) runs the programs of
`pipelines/spark`, and every row is compared with what pricelake makes of the same tables, or of the same landing.
[More than one machine](../guides/scale.md) says what for. Landings are compared without the times at which rows were found,
and without items that `stale_items` leaves to the next run; these are compared after it."""),
    "object-storage": ("tried", """# Object storage that was tried

`npm run interop` writes this page: Ceph VERSION from Debian's packages, its S3 gateway and one OSD in memory, on loopback.
[Keep the lake on object storage](../guides/object-storage.md) says what for. A proxy between client and gateway makes the
faults: `500` and `503` instead of an answer, `reset` before the request arrives, `cut` in the middle of an answer, `lost`
where the request took effect and nothing is answered, `hang` where nothing comes at all, `slow` with a pause in the answer.
Stores that are not listed were not tried, and nothing was tried over a network."""),
}

name, results, *version = sys.argv[1:]
*columns, head = HEADS[name]
columns.append("result")
print(f"{head.replace('VERSION', ''.join(version))}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
for line in Path(results).read_text().splitlines():
    one = json.loads(line)
    if one["what"].startswith("calls"):
        continue
    one["tried"] = one["what"] if one["tool"] == "pricelake" else f"{one['what']}, read by {one['tool']} {one['version']}"
    print("| " + " | ".join(one[column].replace("|", "\\|") for column in columns) + " |")
