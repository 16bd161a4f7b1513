"""One line a reader: what a table's folder holds, by a plain read of its Parquet files or as a Delta table."""

import os
import pathlib
import re

import deltalake
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet

from comparing import rows_of

# Reader → the line that reads <folder>. `spark` is None where Spark is left out.
PLAIN = {
    "pandas": lambda folder, spark: pandas.read_parquet(folder),
    "pyarrow": lambda folder, spark: dataset.dataset(folder).to_table(),
    "pyarrow, hive": lambda folder, spark: dataset.dataset(folder, partitioning="hive").to_table(),
    "Polars": lambda folder, spark: polars.read_parquet(f"{folder}/*.parquet"),
    "DuckDB": lambda folder, spark: duckdb.sql(f"SELECT * FROM '{folder}/*.parquet'"),
    "Spark": lambda folder, spark: spark.read.parquet(folder),
}
DELTA = {
    "delta-rs": lambda folder, spark: deltalake.DeltaTable(folder).to_pyarrow_table(),
    "Polars, Delta": lambda folder, spark: polars.scan_delta(folder).collect(),
    "Spark, Delta": lambda folder, spark: spark.read.format("delta").load(folder),
}
LINES = {
    "pandas": "`pandas.read_parquet(folder)`",
    "pyarrow": "`pyarrow.dataset.dataset(folder).to_table()`",
    "pyarrow, hive": "`pyarrow.dataset.dataset(folder, partitioning='hive').to_table()`",
    "Polars": "`polars.read_parquet(f'{folder}/*.parquet')`",
    "DuckDB": "`SELECT * FROM '<folder>/*.parquet'`",
    "Spark": "`spark.read.parquet(folder)`",
    "delta-rs": "`deltalake.DeltaTable(folder).to_pyarrow_table()`",
    "Polars, Delta": "`polars.scan_delta(folder).collect()`",
    "Spark, Delta": "`spark.read.format('delta').load(folder)`",
    "DuckDB, catalog": "`catalog.sql`, with the lake as working directory",
}


def read_expected(reader, path, spark):
    """The same rows in one file of their own, by the same tool."""
    if reader.startswith("Spark"):
        return spark.read.parquet(path)
    if reader.startswith("Polars"):
        return polars.read_parquet(path)
    if reader == "pandas":
        return pandas.read_parquet(path)
    if reader == "DuckDB":
        return duckdb.read_parquet(path)
    return parquet.read_table(path)


def describe(found):
    """(column, type) pairs of what a reader gave; delta-rs' larger texts and lists are the same types."""
    if isinstance(found, pandas.DataFrame):
        return [(name, str(kind)) for name, kind in found.dtypes.items()]
    if isinstance(found, polars.DataFrame):
        return [(name, str(kind)) for name, kind in found.schema.items()]
    if isinstance(found, duckdb.DuckDBPyRelation):
        return list(zip(found.columns, map(str, found.types)))
    if isinstance(found, pyarrow.Table):
        kinds = [(field.name, str(field.type)) for field in found.schema]
        return [(name, re.sub(r"<\w+:", "<element:", kind.replace("large_", ""))) for name, kind in kinds]
    return found.dtypes


def to_rows(found):
    """Sorted rows that compare."""
    if isinstance(found, pandas.DataFrame):
        return rows_of(pyarrow.Table.from_pandas(found, preserve_index=False))
    if isinstance(found, polars.DataFrame):
        return rows_of(found.to_arrow())
    if isinstance(found, duckdb.DuckDBPyRelation):
        return rows_of(found.to_arrow_table())
    if isinstance(found, pyarrow.Table):
        return rows_of(found)
    return sorted(tuple(map(repr, row)) for row in found.collect())


def compare_reading(reader, read, folder, expected, spark):
    """→ the number of rows, or what is different."""
    try:
        found, wanted = read(folder, spark), read_expected(reader, expected, spark)
        names, types = describe(found), describe(wanted)
        if sorted(names) != sorted(types):
            return f"types {sorted(set(names) ^ set(types))}"
        if names != types:
            found = found.select(*[name for name, _ in types]) if hasattr(found, "select") else found[[n for n, _ in types]]
        rows, right = to_rows(found), to_rows(wanted)
        return len(rows) if rows == right else f"{len(rows)} rows, {len(right)} expected, or other values"
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def read_catalog(folder, spark):
    """A view of catalog.sql, in a DuckDB that knows nothing of pricelake."""
    before, (lake, table) = os.getcwd(), os.path.split(folder)
    os.chdir(lake)
    try:
        connection = duckdb.connect()
        connection.execute(pathlib.Path("catalog.sql").read_text())
        return connection.table(table).to_arrow_table()
    finally:
        os.chdir(before)
