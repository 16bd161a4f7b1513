"""The page of a run: which version of which tool read which table in which state, and what it found."""

import pathlib

from readers import LINES

HEAD = """# Readers and writers that were tried

Made by `npm run interop`, which writes lakes from the sandbox, lets other programs write to some of them, and reads
every table with every reader in one line. A number is the rows that were read, equal to ours in value and type. What
differs is named; `–` was not read, since that way of reading can't be right there: superseded files, and
files in folders, are Delta's to tell apart. Polars 2.1 fails with a ShapeError where some files of a Delta table
hold their partition column and others don't, as after another program's OPTIMIZE; our next `sync` ends that.
"""


def write_page(path, versions, results, commands):
    used = {reader for _, found in results for read in found.values() for reader in read}
    lines = {reader: line for reader, line in LINES.items() if reader in used}
    parts = [HEAD, "## Versions\n", *rows_of_table(["package", "version"], versions.items())]
    parts += ["\n## Lines\n", "`folder` is the folder of a table, `lake/items`.\n"]
    parts += rows_of_table(["reader", "line"], lines.items())
    for state, found in results:
        parts += [f"\n## {state['state'][0].upper()}{state['state'][1:]}\n", f"A lake {state['title']}.\n"]
        mine = [one for one in commands if one["state"] == state["state"]]
        parts += [f"- `{one['command']}`: {one['result']}" for one in mine] + ([""] if mine else [])
        rows = [[f"`{table}`", *(cell(read, reader) for reader in lines)] for table, read in found.items()]
        parts += rows_of_table(["table", *lines], rows)
    pathlib.Path(path).write_text("\n".join(parts) + "\n", encoding="utf8")


def cell(read, reader):
    return str(read.get(reader, "–")).replace("|", "\\|")


def rows_of_table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]
