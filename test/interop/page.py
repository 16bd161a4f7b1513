"""The page of a run: which version of which tool read lakes in which states, and what it found."""

import pathlib
import re

from readers import LINES

HEAD = """# Tested programs

`npm run interop` writes this page. It creates lakes in several states, lets other programs write to some of them, and reads
every table with every reader. All rows are equal to pricelake's in value and type, unless noted. Readers without Delta support skip lakes with superseded files or with files in folders, because these require the Delta log.

Polars 2.1 fails with a ShapeError if only some files in a Delta table contain the partition column, as after
another program's OPTIMIZE. The next `sync` repairs this."""

# A package by the name under which pip knows it.
PACKAGES = {"Polars": "polars", "DuckDB": "duckdb", "Spark": "pyspark", "delta-rs": "deltalake"}


def write_page(path, versions, results, commands):
    used = {reader for _, found in results for read in found.values() for reader in read}
    lines = {reader: line for reader, line in LINES.items() if reader in used}
    readers = [reader_row(reader, line, versions, results) for reader, line in lines.items()]
    mine = {state["state"]: [one for one in commands if one["state"] == state["state"]] for state, _ in results}
    states = [state_row(state, found, mine[state["state"]]) for state, found in results]
    parts = [HEAD, "\n## Readers\n", "`folder` is a table's folder, such as `lake/items`.\n"]
    parts += rows_of_table(["tool", "version", "line", "result"], readers)
    parts += ["\n## Lakes that the readers read\n"]
    parts += rows_of_table(["lake", "our commands afterwards", "readers", "result"], states)
    pathlib.Path(path).write_text("\n".join(parts) + "\n", encoding="utf8")


def reader_row(reader, line, versions, results):
    read = [one[reader] for _, found in results for one in found.values() if reader in one]
    lakes = sum(any(reader in one for one in found.values()) for _, found in results)
    equal = [rows for rows in read if isinstance(rows, int)]
    other = len(read) - len(equal)
    result = f"{len(equal)} tables of {lakes} lakes, {sum(equal):,} rows" + (f"; {other} tables differ" if other else "")
    return [reader, version_of(reader, versions), line, result]


def version_of(reader, versions):
    tool = reader.split(",")[0]
    version = versions[PACKAGES.get(tool, tool)]
    return f"{version}, delta-spark {versions['delta-spark']}" if reader == "Spark, Delta" else version


def state_row(state, found, commands):
    ran = "; ".join(f"`{one['command']}`: {first_words(one['result'])}" for one in commands)
    names = {reader for read in found.values() for reader in read}
    rows = sum(max((one for one in read.values() if isinstance(one, int)), default=0) for read in found.values())
    other = [f"{reader}, `{table}`: {first_words(one)}" for table, read in found.items() for reader, one in read.items() if not isinstance(one, int)]
    title = state["title"].replace("the same", state["state"].replace(", ours", ""))
    return [title, ran, len(names), "; ".join([f"{rows:,} rows", *other]).replace("|", "\\|")]


def first_words(result):
    """They name the kind of error; what follows tells which rows and files."""
    return re.match(r"(?:refused: )?[^:,]*", str(result))[0]


def rows_of_table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]
