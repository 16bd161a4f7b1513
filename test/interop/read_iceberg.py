"""Reads every table of a lake by its metadata of Iceberg, and compares the rows with what delta-rs reads by the log of Delta: the
newest version, each snapshot by its id and by its time, and in PyIceberg rows chosen by a value of each column.

usage: read_iceberg.py <folder of write-iceberg.ts> pyiceberg|polars|clickhouse|clickhouse-delta|duckdb|spark
"""

import datetime
import os
import sys
from importlib.metadata import version
from pathlib import Path

import deltalake
import pyarrow

from comparing import failures, finish, rows_of
from noting import note

FOLDER, READER = Path(sys.argv[1]).resolve(), sys.argv[2]
UTC = datetime.timezone.utc


class Reader:
    """Rows of a table as Arrow; of a snapshot where one is asked for."""

    packages = ()
    what = "Iceberg metadata"

    def read(self, lake, table, snapshot=None, at_ms=None):
        raise NotImplementedError

    def versions(self):
        return ", ".join(version(name) if i == 0 else f"{name} {version(name)}" for i, name in enumerate(self.packages))


class PyIceberg(Reader):
    tool, packages = "PyIceberg", ("pyiceberg",)

    def open(self, lake, table):
        from pyiceberg.table import StaticTable

        return StaticTable.from_metadata(f"{lake}/iceberg/{table}")

    def read(self, lake, table, snapshot=None, at_ms=None):
        opened = self.open(lake, table)
        if at_ms is not None:
            snapshot = opened.snapshot_as_of_timestamp(at_ms).snapshot_id
        return opened.scan(snapshot_id=snapshot).to_arrow()


class Polars(PyIceberg):
    tool, packages = "Polars, scan_iceberg", ("polars", "pyiceberg")

    def read(self, lake, table, snapshot=None, at_ms=None):
        import polars

        if at_ms is not None:
            return super().read(lake, table, at_ms=at_ms)
        return polars.scan_iceberg(self.open(lake, table), snapshot_id=snapshot).collect().to_arrow()


class ClickHouse(Reader):
    tool, packages = "ClickHouse, icebergLocal", ("chdb", "chdb-core")

    def __init__(self):
        # chdb reads only what is below the folder where it starts.
        os.chdir(FOLDER)

    def read(self, lake, table, snapshot=None, at_ms=None):
        import chdb

        chosen = "" if snapshot is None else f" SETTINGS iceberg_snapshot_id = {snapshot}"
        chosen = chosen if at_ms is None else f" SETTINGS iceberg_timestamp_ms = {at_ms}"
        return chdb.query(f"SELECT * FROM icebergLocal('{lake}/iceberg/{table}'){chosen}", "ArrowTable")


class ClickHouseDelta(ClickHouse):
    tool, packages, what = "ClickHouse, deltaLakeLocal", ("chdb", "chdb-core"), "Delta log"

    def read(self, lake, table, snapshot=None, at_ms=None):
        import chdb

        return chdb.query(f"SELECT * FROM deltaLakeLocal('{lake}/{table}')", "ArrowTable")


class DuckDB(Reader):
    tool, packages = "DuckDB, iceberg_scan", ("duckdb", "duckdb-ext-iceberg")

    def __init__(self):
        import duckdb
        import duckdb_ext

        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        for name in ("avro", "iceberg"):
            self.load(duckdb_ext, name)

    def load(self, package, name):
        [file] = Path(list(package.__path__)[0]).rglob(f"{name}.duckdb_extension")
        self.connection.execute(f"LOAD '{file}'")

    def read(self, lake, table, snapshot=None, at_ms=None):
        chosen = "" if snapshot is None else f", snapshot_from_id = {snapshot}"
        if at_ms is not None:
            at = datetime.datetime.fromtimestamp(at_ms / 1000, UTC).replace(tzinfo=None).isoformat(sep=" ")
            chosen = f", snapshot_from_timestamp = TIMESTAMP '{at}'"
        return self.connection.sql(f"SELECT * FROM iceberg_scan('{lake}/iceberg/{table}'{chosen})").to_arrow_table()


class Spark(Reader):
    tool, packages = "Spark, iceberg-spark-runtime 1.10.1", ("pyspark",)

    def __init__(self):
        from comparing import open_spark

        # With Delta's session extension, as on a cluster that reads both.
        self.spark = open_spark(["org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1"])

    def read(self, lake, table, snapshot=None, at_ms=None):
        reader = self.spark.read.format("iceberg")
        if snapshot is not None:
            reader = reader.option("snapshot-id", snapshot)
        if at_ms is not None:
            reader = reader.option("as-of-timestamp", at_ms)
        found = reader.load(f"{lake}/iceberg/{table}")
        return pyarrow.Table.from_pylist([row.asDict() for row in found.collect()], schema=to_arrow(found.schema))


def to_arrow(schema):
    kinds = {"bigint": pyarrow.int64(), "string": pyarrow.string(), "timestamp": pyarrow.timestamp("us", "UTC"),
             "date": pyarrow.date32(), "boolean": pyarrow.bool_(), "double": pyarrow.float64(),
             "decimal(18,4)": pyarrow.decimal128(18, 4), "array<string>": pyarrow.list_(pyarrow.string())}
    return pyarrow.schema([(field.name, kinds[field.dataType.simpleString()]) for field in schema.fields])


READERS = {"pyiceberg": PyIceberg, "polars": Polars, "clickhouse": ClickHouse, "clickhouse-delta": ClickHouseDelta, "duckdb": DuckDB, "spark": Spark}


def compare(name, read, expected):
    """→ the number of rows"""
    try:
        found = read()
        rows, wanted = rows_of(found), rows_of(expected)
        ok = found.column_names == expected.column_names and rows == wanted
        detail = f"{len(rows)} rows, {len(wanted)} expected, or other values"
    except Exception as error:
        ok, wanted, detail = False, [], f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    if not ok:
        print("FAILED", name, detail)
        failures.append(name)
    return len(wanted)


def snapshots_of(lake, table):
    """Snapshots by the metadata itself: id, time and version of Delta."""
    import json

    folder = Path(lake) / "iceberg" / table / "metadata"
    newest = (folder / "version-hint.text").read_text()
    metadata = json.loads((folder / f"v{newest}.metadata.json").read_text())
    return [(one["snapshot-id"], one["timestamp-ms"], int(one["summary"]["delta.version"])) for one in metadata["snapshots"]]


def filter_columns(reader, lake, table):
    """Rows by a value of each column: a bound that is wrong would leave out a file that has them. → the filters"""
    from pyiceberg.expressions import EqualTo, IsNull

    opened, filters = reader.open(lake, table), 0
    rows = opened.scan().to_arrow()
    for column in rows.column_names:
        if pyarrow.types.is_list(rows.schema.field(column).type) or pyarrow.types.is_large_list(rows.schema.field(column).type):
            continue
        values = rows.column(column).to_pylist()
        known = sorted({value for value in values if value is not None})
        for value in {*known[:1], *known[len(known) // 2 : len(known) // 2 + 1], *known[-1:]}:
            chosen = value.isoformat() if isinstance(value, (datetime.datetime, datetime.date)) else value
            found = opened.scan(row_filter=EqualTo(column, chosen)).to_arrow().num_rows
            filters += 1
            if found != values.count(value):
                failures.append(f"{table}.{column} = {value}: {found} of {values.count(value)} rows")
                print("FAILED", failures[-1])
        if None in values and opened.scan(row_filter=IsNull(column)).to_arrow().num_rows != values.count(None):
            failures.append(f"{table}.{column} IS NULL")
            print("FAILED", failures[-1])
    return filters


def read_lake(reader, name):
    lake, rows, snapshots, filters = str(FOLDER / name), 0, 0, 0
    tables = sorted(path.parent.name for path in Path(lake).glob("*/_delta_log"))
    for table in tables:
        delta = deltalake.DeltaTable(f"{lake}/{table}")
        times = {one["version"]: one["timestamp"] for one in delta.history()}
        rows += compare(f"{name} {table}", lambda: reader.read(lake, table), delta.to_pyarrow_table())
        for snapshot, at_ms, version_ in [] if reader.what == "Delta log" else snapshots_of(lake, table):
            then = deltalake.DeltaTable(f"{lake}/{table}", version=version_)
            expected = then.to_pyarrow_table()
            compare(f"{name} {table} snapshot {snapshot}", lambda: reader.read(lake, table, snapshot), expected)
            compare(f"{name} {table} at {at_ms}", lambda: reader.read(lake, table, at_ms=at_ms), expected)
            if times.get(version_, at_ms) != at_ms:
                failures.append(f"{name} {table}: snapshot {snapshot} at {at_ms}, version {version_} at {times[version_]}")
            snapshots += 1
        if isinstance(reader, PyIceberg) and type(reader) is PyIceberg:
            filters += filter_columns(reader, lake, table)
    return len(tables), rows, snapshots, filters


reader = READERS[READER]()
found = [read_lake(reader, name) for name in ("lake", "expired")]
tables, rows, snapshots, filters = map(sum, zip(*found))
result = f"{tables} tables of 2 lakes, {rows:,} rows equal"
result += f"; {snapshots} snapshots by id and by time equal to versions of Delta" if snapshots else ""
result += f"; {filters} filters" if filters else ""
note(reader.tool, reader.versions(), reader.what, result if not failures else f"**{len(failures)} differ**")
sys.exit(finish())
