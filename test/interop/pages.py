"""A page of docs/background, of what was noted: pages.py deliveries|object-storage <results> [<version of Ceph>]"""

import json
import re
import sys
from itertools import groupby
from pathlib import Path

HEADS = {
    "deliveries": """# Tested schedulers, loaders and monitors

`npm run interop` writes this page. Each program reads the output of sandbox runs. To test exit codes, a stub that exits with the
listed codes replaces pricelake.""",
    "object-storage": """# Tested object storage

`npm run interop` writes this page. It tests Ceph from Debian's packages, with its S3 gateway and one OSD in memory, on
loopback. A proxy simulates faults: it returns `500` or `503`, closes the connection before the request arrives (`reset`) or
during the response (`cut`), drops the response to a request that succeeded (`lost`), never responds (`hang`), or pauses the
response (`slow`). No other store or real network was tested. See [Keep the lake on object storage](../engineer/object-storage.md).""",
}


def join_queries(notes):
    """Queries over the same rows that came out equal in the same way are one claim, with all of their rows."""
    def kind(one):
        query = re.fullmatch(r"`(\w+)`, (.*)", one["what"])
        rows = re.fullmatch(r"([\d,]+) rows?, (equal.*)", one["result"])
        return (one["version"], query[2], rows[2]) if query and rows else None

    found = {}
    for nth, one in enumerate(notes):
        found.setdefault(kind(one) or nth, []).append(one)
    for key, alike in found.items():
        if isinstance(key, int):
            yield alike[0]
            continue
        names = ", ".join(re.match(r"`\w+`", one["what"])[0] for one in alike)
        rows = sum(int(one["result"].split(" ")[0].replace(",", "")) for one in alike)
        yield {**alike[0], "what": f"{key[1]}: {names}", "result": f"{rows:,} rows, {key[2]}"}


def join_codes(notes):
    """Exit codes of one program are one claim."""
    def code_of(one):
        return re.fullmatch(r"exit codes? ([\d, ]+)", one["what"])

    for (_, is_code), alike in groupby(notes, key=lambda one: ((one["tool"], one["version"]), code_of(one) is not None)):
        alike = list(alike)
        if is_code:
            results = "; ".join(f"{code_of(one)[1]}: {one['result']}" for one in alike)
            yield {**alike[0], "what": "exit codes", "result": results}
        else:
            yield from alike


def join_versions(notes):
    """What is the same on several versions is one claim."""
    found = {}
    for one in notes:
        found.setdefault((one["tool"], one["what"], one["result"]), []).append(one["version"])
    return [dict(tool=tool, what=what, result=result, version=", ".join(versions)) for (tool, what, result), versions in found.items()]


name, results, *ceph = sys.argv[1:]
notes = [json.loads(line) for line in Path(results).read_text().splitlines()]
notes = [one for one in notes if not one["what"].startswith("calls")]
if ceph:
    notes = [one | {"tool": "Ceph", "version": ceph[0]} if one["tool"] == "pricelake" else one for one in notes]
print(f"{HEADS[name]}\n\n| tool | version | claim | result |\n|{' --- |' * 4}")
for one in join_versions(join_codes(join_queries(notes))):
    print("| " + " | ".join(one[key].replace("|", "\\|") for key in ("tool", "version", "what", "result")) + " |")
