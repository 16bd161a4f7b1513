"""Compares the tables that Spark made with those that DuckDB made of the same rows: rows, to the last digit, and types.
Usage: read_spark.py <expected folder> <folder that spread.py wrote> <version of Spark> <world>"""

import pathlib
import sys

import pyarrow.parquet as parquet

from comparing import compare, failures, finish
from noting import note

expected, made = map(pathlib.Path, sys.argv[1:3])
version, world = sys.argv[3:5]
WORLDS = {"hard": "values that are hard to count with", "given": "a catalogue"}
for path in sorted(expected.glob("*.parquet")):
    before, wanted = len(failures), parquet.read_table(path)
    if wanted.num_rows == 0:
        continue
    compare(f"Spark {version} {path.stem}", parquet.read_table(made / path.stem), wanted)
    result = f"{wanted.num_rows:,} rows, equal" if len(failures) == before else "**other rows**"
    note("Spark", version, f"`{path.stem}`, {WORLDS[world]}", result)
sys.exit(finish())
