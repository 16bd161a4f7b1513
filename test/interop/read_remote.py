"""Reads every table of a remote lake with other programs, and compares it with the folder of the machine that ran last:
read_remote.py <folder> [--spark]."""

import json
import os
import pathlib
import sys

import deltalake
import duckdb
import polars

from comparing import open_spark
from noting import note

folder = pathlib.Path(sys.argv[1])
remote = json.loads((folder / "remote.json").read_text())
host = remote["endpoint"].removeprefix("http://")
key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
options = {
    "AWS_ENDPOINT_URL": remote["endpoint"],
    "AWS_ACCESS_KEY_ID": key,
    "AWS_SECRET_ACCESS_KEY": secret,
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


def rows(table):
    """Of an Arrow table, as texts in order."""
    names = sorted(table.schema.names)
    return sorted(str([row[name] for name in names]) for row in table.to_pylist())


def duck():
    """None where the extension can't be had."""
    try:
        import duckdb_extension_httpfs  # noqa: F401

        db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        package = pathlib.Path(duckdb_extension_httpfs.__file__).parent
        extension = next(package.rglob("httpfs.duckdb_extension"))
        db.sql(f"LOAD '{extension}'")
        db.sql(
            f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false)"
        )
        db.sql("SET TimeZone = 'UTC'")
        return db
    except Exception as fault:  # noqa: BLE001
        print(f"DuckDB's httpfs: not tested ({fault})")
        return None


S3A = {
    "endpoint": remote["endpoint"],
    "path.style.access": "true",
    "connection.ssl.enabled": "false",
    "access.key": key,
    "secret.key": secret,
}
spark = None
if "--spark" in sys.argv:
    hadoop = {f"spark.hadoop.fs.s3a.{name}": value for name, value in S3A.items()}
    spark = open_spark(["org.apache.hadoop:hadoop-aws:3.3.4"], hadoop)
db = duck()
versions = {"delta-rs": deltalake.__version__, "Polars": polars.__version__, "DuckDB, httpfs": duckdb.__version__}
if spark is not None:
    versions["Spark"] = spark.version
tables = sorted(path.parent.name for path in pathlib.Path(remote["lake"]).glob("*/_delta_log"))
failed = []
counted = {}
for table in tables:
    expected = rows(deltalake.DeltaTable(f"{remote['lake']}/{table}").to_pyarrow_table())
    url = f"{remote['url']}/{table}"
    delta = deltalake.DeltaTable(url, storage_options=options)
    found = {
        "delta-rs": rows(delta.to_pyarrow_table()),
        "Polars": polars.scan_delta(url, storage_options=options).collect().height,
    }
    if db is not None:
        paths = [f"{url}/{pathlib.PurePath(name).name}" for name in delta.to_pyarrow_dataset().files]
        found["DuckDB, httpfs"] = db.read_parquet(paths, hive_partitioning=False).to_arrow_table().num_rows
    if spark is not None:
        found["Spark"] = spark.read.format("delta").load(url.replace("s3://", "s3a://")).count()
    for reader, got in found.items():
        counted[reader] = counted.get(reader, 0) + (len(got) if isinstance(got, list) else got)
        # Polars, DuckDB and Spark have other Arrow types for the same values: their rows are counted.
        if got != (expected if isinstance(got, list) else len(expected)):
            failed.append(f"{reader}: {table}")
print(f"{len(tables)} tables on object storage read by {', '.join(found)}, {'as on disk' if not failed else failed}")
for reader, rows_read in counted.items():
    if not any(one.startswith(f"{reader}:") for one in failed):
        equal = "equal to those on disk" if reader == "delta-rs" else "as many as on disk"
        note(reader, versions[reader], f"{len(tables)} tables", f"{rows_read:,} rows, {equal}")
sys.exit(1 if failed else 0)
