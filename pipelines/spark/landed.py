"""The landing of a run as its journal says (docs/concepts/runs.md), and lines that are added to that journal."""

import hashlib
import json
import os
import pathlib
import re
import sys

from typed import Pairs, READER, as_text

SUM = re.compile(r',"sum":"([0-9a-f]{16})"\}$')
# Entries of a first copy by exports. Whatever else brought rows is left to pricelake.
KNOWN = """begin try calls usage.before usage.after decision watermark chosen shards export.begin export.segment
  export.done feed.bound feed.part feed.page events.done feed.done datasets facets normalize tally hydrate.done
  merged""".split()


class Landing:
    """The unfinished run of a lake."""

    def __init__(self, lake):
        root = pathlib.Path(lake) / "_pricelake" / "landing"
        runs = sorted((one for one in root.glob("*-*") if one.name[:6].isdigit()), key=lambda one: int(one.name.split("-")[0]))
        if not runs:
            sys.exit(f"{root}: nothing has landed; run `pricelake sync --land-only` first")
        self.folder = runs[-1]
        self.entries, self.sum, self.end = read_journal(self.folder / "journal.ndjson")
        self.check()

    def check(self):
        name = self.folder.name
        if self.last("end"):
            sys.exit(f"{name} has ended: there is nothing to merge")
        odd = sorted({one["type"] for one in self.entries} - set(KNOWN))
        decision = self.last("decision") or {}
        if odd or decision.get("mode") != "snapshot" or self.last("begin")["cursorFrom"] is not None:
            why = f"its journal has {', '.join(odd)}" if odd else "it is no first copy"
            sys.exit(f"{name}: only a first copy by exports can be merged here, and {why}; `pricelake sync` continues it")
        # A journal may have come by way of a bucket.
        outer = [one["file"] for one in self.entries if "file" in one and pathlib.PurePath(one["file"]).name != one["file"]]
        if outer:
            sys.exit(f"{name}: its journal names {json.dumps(outer[0])}, which is not a file of the landing")
        if self.last("begin")["runId"] != name:
            sys.exit(f"{name}: its journal is of run {json.dumps(self.last('begin')['runId'])}")
        if not (self.last("feed.done") and self.last("datasets") and self.list_segments()):
            sys.exit(f"{name} has not landed whole; run `pricelake sync --land-only` again")

    def last(self, kind):
        return next((one for one in reversed(self.entries) if one["type"] == kind), None)

    def all(self, kind):
        return [one for one in self.entries if one["type"] == kind]

    def list_segments(self):
        """(path, when its export was asked for) of each segment of a complete export."""
        place = lambda one: (one["shard"], one["attempt"])  # noqa: E731
        done = {place(one) for one in self.all("export.done")}
        read_at = {place(one): one["readAt"] for one in self.all("export.begin")}
        found = [one for one in self.all("export.segment") if place(one) in done]
        return [(str(self.folder / one["file"]), read_at[place(one)]) for one in found]

    def find_feed(self):
        """(path, bytes that the journal names) of the landed changes."""
        pages = self.all("feed.page")
        files = [one for one in self.folder.iterdir() if one.name.startswith("feed")]
        return (str(files[0]), pages[-1]["end"]) if pages and files else (None, 0)

    def count_received(self):
        rows = sum(int(one["landed"]) for one in self.all("export.done"))
        return rows + sum(one["rows"] for one in self.all("feed.page"))

    def list_datasets(self):
        """(id, name) of the datasets that the run copies."""
        answer = [dict(one) for one in READER.decode(self.last("datasets")["answer"]) if isinstance(one, Pairs)]
        chosen = self.last("begin").get("datasets")
        known = [(int(one["id"]), as_text(one["name"])) for one in answer]
        return known, None if chosen is None else [int(one) for one in chosen]

    def append(self, entry):
        """Adds a line, with the checksum of the lines so far; it is on disk when this returns."""
        line = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
        self.sum = add_line(self.sum, line)
        data = f'{line[:-1]},"sum":"{self.sum}"}}\n'.encode()
        with open(self.folder / "journal.ndjson", "r+b") as file:
            file.truncate(self.end)
            file.seek(self.end)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.end += len(data)
        self.entries.append(entry)


def read_journal(path):
    """Entries, the checksum of all lines, and where whole lines end: a line that a crash cut short is none."""
    data = path.read_bytes()
    end, total, entries = data.rfind(b"\n") + 1, "", []
    for number, text in enumerate(data[:end].decode("utf8").splitlines(), 1):
        claimed = SUM.search(text)
        line = text if claimed is None else text[: claimed.start()] + "}"
        total = add_line(total, line)
        if claimed is not None and claimed[1] != total:
            sys.exit(f"{path}: line {number} or one before it is not as it was written")
        entries.append(json.loads(line))
    return entries, total, end


def add_line(total, line):
    return hashlib.sha256((total + line).encode()).hexdigest()[:16]
