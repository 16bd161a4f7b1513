"""docs/reference/object-storage.md, of what was noted: object_storage_page.py <results> <version of Ceph>."""

import json
import sys
from pathlib import Path

path, version = sys.argv[1:]
print(f"""# Object storage that was tried

`npm run interop` writes this page: Ceph {version} from Debian's packages, its S3 gateway and one OSD in memory, on loopback.
[Keep the lake on object storage](../guides/object-storage.md) says what for. A proxy between client and gateway makes the
faults: `500` and `503` instead of an answer, `reset` before the request arrives, `cut` in the middle of an answer, `lost`
where the request took effect and nothing is answered, `hang` where nothing comes at all, `slow` with a pause in the answer.

| tried | result |
| --- | --- |""")
for line in Path(path).read_text().splitlines():
    one = json.loads(line)
    what = one["what"] if one["tool"] == "pricelake" else f"{one['what']}, read by {one['tool']} {one['version']}"
    print(f"| {what} | {one['result']} |")
print("""
Stores that are not listed were not tried. Nothing here was tried over a network.
""")
