"""Reads lakes in the states that write-states.ts left them in: every table, by every reader, in
one line, and compares rows and types. Usage: read_states.py <folder> [--spark] [--page docs/background/interop.md]"""

import importlib.metadata
import json
import pathlib
import re
import sys

import pyarrow.parquet as parquet
from deltalake import DeltaTable

from comparing import check, compare, compare_in_spark, finish, open_spark
from page import write_page
from readers import DELTA, PLAIN, compare_reading, read_catalog

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SPARK = "--spark" in sys.argv
STATES = [json.loads(line) for line in (FOLDER / "states.ndjson").read_text().splitlines()]
TABLES = sorted(path.stem for path in (FOLDER / "retained" / "expected").glob("*.parquet"))
# What another program left is not pointed at yet.
CATALOG_LATER = ("OPTIMIZE", "VACUUM", "DELETE")


def folder_of(state):
    """Without spaces: Polars does not find the files of a Delta table in such a path."""
    return FOLDER / re.sub(r"[ ,]+", "-", state)


def lake(state, table):
    return str(folder_of(state) / "lake" / table)


def expected_path(state, table):
    return str(folder_of(state) / "expected" / f"{table}.parquet")


def choose_readers(state):
    name = state["state"]
    readers = {**(PLAIN if state["plain"] else {}), **DELTA}
    if name.endswith(", ours") or not any(operation in name for operation in CATALOG_LATER):
        readers["DuckDB, catalog"] = read_catalog
    return {name: read for name, read in readers.items() if SPARK or not name.startswith("Spark")}


def read_state(state, spark):
    """Table → reader → rows, or what is different."""
    name, found = state["state"], {}
    for table in TABLES:
        expected = expected_path(name, table)
        found[table] = {
            reader: compare_reading(reader, read, lake(name, table), expected, spark)
            for reader, read in choose_readers(state).items()
        }
        for reader, result in found[table].items():
            is_known = reader == "Polars, Delta" and "ShapeError" in str(result)  # the page tells why
            check(f"{reader} {name} {table}: {result} rows", isinstance(result, int) or is_known, f"{result}")
    return found


def read_before(spark):
    """A version that a lake with a retention has kept, as it was then."""
    for table in TABLES:
        version = DeltaTable(lake("retained-before", table)).version()
        then = expected_path("retained-before", table)
        delta = DeltaTable(lake("retained", table), version=version)
        compare(f"delta-rs retained {table} version {version}", delta.to_pyarrow_table(), parquet.read_table(then))
        if spark is not None:
            found = spark.read.format("delta").option("versionAsOf", version).load(lake("retained", table))
            compare_in_spark(f"Spark retained {table} version {version}", found, spark.read.parquet(then))


def read_commands():
    path = FOLDER / "commands.json"
    commands = json.loads(path.read_text()) if path.exists() else []
    for one in commands:
        check(f"pricelake {one['command']} after {one['state']}: {one['result']}", one["ok"])
    return commands


check(f"{len(TABLES)} tables are there", len(TABLES) >= 12, f"{TABLES}")
spark = open_spark() if SPARK else None
results = [(state, read_state(state, spark)) for state in STATES]
read_before(spark)
commands = read_commands()
if spark is not None:
    spark.stop()
if "--page" in sys.argv:
    packages = ["pandas", "pyarrow", "polars", "deltalake", "duckdb"] + (["pyspark", "delta-spark"] if SPARK else [])
    versions = {name: importlib.metadata.version(name) for name in packages}
    write_page(sys.argv[sys.argv.index("--page") + 1], versions, results, commands)
sys.exit(finish())
