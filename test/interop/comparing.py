"""What the readers' scripts share: findings, and rows that compare."""

import datetime

import pyarrow

UTC = datetime.timezone.utc
failures = []


def check(name, ok, detail=""):
    print(("ok    " if ok else "FAILED"), name, "" if ok else detail)
    if not ok:
        failures.append(name)


def plain(value):
    """A value that sorts and compares: NaN equals itself, instants as microseconds, lists as text."""
    if isinstance(value, datetime.datetime):
        return ("time", value.astimezone(UTC).isoformat())
    if isinstance(value, float):
        return ("float", repr(value))
    return (type(value).__name__, str(value))


def rows_of(table):
    """Rows of an Arrow table as a sorted list; instants as microseconds, so that infinity passes."""
    columns = []
    for name in table.column_names:
        column = table.column(name)
        if pyarrow.types.is_timestamp(column.type):
            column = column.cast(pyarrow.timestamp("us", "UTC")).cast(pyarrow.int64())
        if pyarrow.types.is_decimal(column.type):
            column = column.cast(pyarrow.decimal128(18, 4))
        columns.append([plain(value) for value in column.to_pylist()])
    return sorted(zip(*columns))


def compare(name, found, expected):
    same_names = found.column_names == expected.column_names
    check(f"{name}: columns", same_names, f"{found.column_names}")
    if same_names:
        found_rows, expected_rows = rows_of(found), rows_of(expected)
        different = [pair for pair in zip(found_rows, expected_rows) if pair[0] != pair[1]]
        check(f"{name}: {len(expected_rows)} rows", found_rows == expected_rows, f"{len(found_rows)} {different[:1]}")


def finish():
    """Exit code: 1 when something failed."""
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


def open_spark(packages=(), settings=None):
    """A session on this machine, for Delta tables; the tables are small, so one task lists a folder or replays a log."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    settings = {
        "spark.jars.packages": ",".join(["io.delta:delta-spark_2.12:3.3.2", *packages]),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **(settings or {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def compare_in_spark(name, found, expected):
    check(f"{name}: types", found.dtypes == expected.dtypes, f"{found.dtypes}")
    missing = expected.exceptAll(found).count() if found.columns == expected.columns else "columns"
    more = found.exceptAll(expected).count() if found.columns == expected.columns else "columns"
    check(f"{name}: rows", missing == 0 and more == 0, f"{missing} missing, {more} more")
