"""Reads lakes in the states that write-states.ts left them in, every table, with delta-rs, Polars, DuckDB and, with
--spark, Spark. Usage: read_states.py <folder> [--spark]"""

import os
import pathlib
import sys

import duckdb
import polars
import pyarrow.parquet as parquet
from deltalake import DeltaTable

from comparing import check, compare, compare_in_spark, finish, open_spark, rows_of

FOLDER = pathlib.Path(sys.argv[1]).resolve()
STATES = ["evolved", "compacted", "retained"]
TABLES = sorted(path.stem for path in (FOLDER / "evolved" / "expected").glob("*.parquet"))
PARTITIONS = {"items": "site_id=*/", "history": "observed_date=*/"}


def lake(state, table):
    return str(FOLDER / state / "lake" / table)


def expected_path(state, table):
    return str(FOLDER / state / "expected" / f"{table}.parquet")


def read_with_delta_rs(state, table, expected):
    delta = DeltaTable(lake(state, table))
    compare(f"delta-rs {state} {table}", delta.to_pyarrow_table(), expected)
    return delta


def read_before(table, delta):
    """A version that the lake has kept, as it was then."""
    version = DeltaTable(lake("retained-before", table)).version()
    delta.load_as_version(version)
    then = parquet.read_table(expected_path("retained-before", table))
    compare(f"delta-rs retained {table} version {version}", delta.to_pyarrow_table(), then)
    return version


def read_with_polars(state, table, expected):
    found = polars.scan_delta(lake(state, table)).collect().to_arrow()
    check(f"Polars {state} {table}: {expected.num_rows} rows", rows_of(found) == rows_of(expected))


def read_by_glob(state, table, expected):
    """Not where a retention is: a glob reads superseded files, too. A column that no file has yet is not there."""
    options = ", union_by_name = true" if state == "evolved" else ""
    pattern = f"{lake(state, table)}/{PARTITIONS.get(table, '')}*.parquet"
    found = duckdb.sql(f"FROM read_parquet('{pattern}', hive_partitioning = false{options})").to_arrow_table()
    present = [name for name in expected.column_names if name in found.column_names]
    absent = [name for name in expected.column_names if name not in present]
    check(f"glob {state} {table}: what it lacks is null", all(expected[name].null_count == len(expected) for name in absent))
    name = f"DuckDB {duckdb.__version__} glob {state} {table}"
    compare(name, found.select(present), expected.select(present))


def read_catalog(state, expected):
    """catalog.sql, with the lake as working directory."""
    os.chdir(FOLDER / state / "lake")
    connection = duckdb.connect()
    connection.execute(pathlib.Path("catalog.sql").read_text())
    for table, rows in expected.items():
        compare(f"DuckDB {duckdb.__version__} catalog {state} {table}", connection.table(table).to_arrow_table(), rows)


def read_with_spark(versions):
    spark = open_spark()
    for state in STATES:
        for table in TABLES:
            found = spark.read.format("delta").load(lake(state, table))
            compare_in_spark(f"Spark {state} {table}", found, spark.read.parquet(expected_path(state, table)))
    for table, version in versions.items():
        found = spark.read.format("delta").option("versionAsOf", version).load(lake("retained", table))
        then = spark.read.parquet(expected_path("retained-before", table))
        compare_in_spark(f"Spark retained {table} version {version}", found, then)
    spark.stop()


def read_all():
    versions = {}
    for state in STATES:
        expected = {table: parquet.read_table(expected_path(state, table)) for table in TABLES}
        for table, rows in expected.items():
            delta = read_with_delta_rs(state, table, rows)
            read_with_polars(state, table, rows)
            if state == "retained":
                versions[table] = read_before(table, delta)
            else:
                read_by_glob(state, table, rows)
        read_catalog(state, expected)
    if "--spark" in sys.argv:
        read_with_spark(versions)


check("all tables are there", len(TABLES) == 12, f"{TABLES}")
read_all()
sys.exit(finish())
