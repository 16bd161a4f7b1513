"""Reads a lake that write-lake.ts wrote with delta-rs, Polars, DuckDB and, with --spark, Spark; compares rows,
types, transaction versions and what filters find. Usage: read_lake.py <folder> [--spark]"""

import datetime
import decimal
import glob
import os
import pathlib
import re
import sys

import duckdb
import polars
import pyarrow
import pyarrow.parquet as parquet
from deltalake import DeltaTable

from comparing import UTC, check, compare, compare_in_spark, finish, open_spark, rows_of

FOLDER = pathlib.Path(sys.argv[1]).resolve()
TABLES = ["items", "history", "products", "sites", "check_results"]
CURSOR = {"items": 9223372036854775022}


def compare_counts(name, count, expected):
    """Each filter finds as many rows as the same filter on the expected rows: no file is skipped wrongly."""
    for text in FILTERS:
        wanted = expected_count(expected, text)
        try:
            found = count(text)
        except Exception as error:
            found = f"{type(error).__name__}: {str(error)[:200]}"
        check(f"{name}: {text} finds {wanted}", found == wanted, f"found {found}")


FILTERS = [
    "item_id = 9007199254741991",
    "item_id > 9007199254741985",
    "price = 99999999999504.0001",
    "price <= 99999999999503.0001",
    "title = 'Títle 497'",
    "title >= '🛒'",
    "title = ''",
    "brand = 'run 22'",
    "first_seen_at >= TIMESTAMP '2026-01-01 00:00:00.499499'",
    "first_seen_at = TIMESTAMP '2026-01-01 00:00:00.499500'",
    "first_seen_at < TIMESTAMP '2026-01-01 00:00:00.000002'",
    "last_seen_at = TIMESTAMP '1969-12-31 23:59:59.999999'",
    "site_id = 3",
    "mpn IS NULL",
    "price IS NULL",
    "datasets IS NULL",
    "is_listed = true",
]


def expected_count(path, text):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    text = text.replace("TIMESTAMP", "TIMESTAMPTZ")
    return connection.execute(f"SELECT count(*) FROM read_parquet('{path}') WHERE {text}").fetchone()[0]


def expected_path(table):
    return str(FOLDER / "expected" / f"{table}.parquet")


def compare_bounds(name, table, expected):
    """For each column, filters find its lowest and highest value and its nulls: a file without bounds would be skipped."""
    from deltalake import QueryBuilder

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("expected", expected)
    builder = QueryBuilder().register("t", table)
    for field in expected.schema:
        kind = SQL_TYPES.get(str(field.type))
        if kind is None:
            continue
        column = f'"{field.name}"'
        filters = {f"{column} IS NULL", f"{column} IS NOT NULL"}
        bounds = connection.execute(f"SELECT min({column})::VARCHAR, max({column})::VARCHAR FROM expected").fetchone()
        for value in bounds:
            if value is not None and value != "infinity":
                text = value.replace("'", "''")
                filters.add(f"{column} = CAST('{text}' AS {kind})")
        for text in sorted(filters):
            ours = text.replace("AS TIMESTAMP)", "AS TIMESTAMPTZ)")
            wanted = connection.execute(f"SELECT count(*) FROM expected WHERE {ours}").fetchone()[0]
            rows = builder.execute(f"SELECT count(*) AS n FROM t WHERE {text}").read_all()
            found = pyarrow.table(rows)["n"][0].as_py()
            check(f"{name}: {text[:80]} finds {wanted}", found == wanted, f"found {found}")


SQL_TYPES = {
    "int64": "BIGINT",
    "string": "VARCHAR",
    "bool": "BOOLEAN",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "decimal128(18, 4)": "DECIMAL(18,4)",
    "timestamp[us, tz=UTC]": "TIMESTAMP",
}


def read_with_delta_rs():
    from deltalake import QueryBuilder

    for name in TABLES:
        table = DeltaTable(str(FOLDER / "lake" / name))
        expected = parquet.read_table(expected_path(name))
        compare(f"delta-rs {name}", table.to_pyarrow_table(), expected)
        types = {field.name: str(field.type) for field in table.schema().fields}
        for field in expected.schema:
            wanted = DELTA_TYPES[str(field.type)]
            if wanted not in types[field.name]:
                check(f"delta-rs {name}.{field.name} is {wanted}", False, types[field.name])
        version = table.transaction_version("pricelake.cursor")
        check(f"delta-rs {name}: txn", version == CURSOR.get(name, 1), f"{version}")
        comment = table.schema().fields[0].metadata.get("comment")
        check(f"delta-rs {name}: comment", bool(comment), f"{comment}")
        compare_bounds(f"delta-rs {name}", table, expected)
        query = QueryBuilder().register("t", table).execute("SELECT count(*) AS n FROM t")
        check(f"delta-rs {name}: SQL", pyarrow.table(query.read_all())["n"][0].as_py() == expected.num_rows)
    items = DeltaTable(str(FOLDER / "lake" / "items"))
    builder = QueryBuilder().register("items", items)

    def count(text):
        # DataFusion takes a number with a point for a double.
        text = re.sub(r"\d+\.\d{4}$", r"CAST('\g<0>' AS DECIMAL(18,4))", text)
        return pyarrow.table(builder.execute(f"SELECT count(*) AS n FROM items WHERE {text}").read_all())["n"][0].as_py()

    compare_counts("delta-rs items", count, expected_path("items"))
    uris = {pathlib.Path(uri).name for uri in items.file_uris()}
    files = {pathlib.Path(path).name for path in glob.glob(str(FOLDER / "lake" / "items" / "*.parquet"))}
    check("delta-rs items: the glob is the table", uris == files, f"{uris ^ files}")
    check("delta-rs items: version", items.version() == 22, f"{items.version()}")
    check("delta-rs items: history", len(items.history()) > 0)


DELTA_TYPES = {
    "int64": "long",
    "string": "string",
    "decimal128(18, 4)": "decimal(18,4)",
    "timestamp[us, tz=UTC]": "timestamp",
    "date32[day]": "date",
    "bool": "boolean",
    "double": "double",
    "list<element: string>": "Array",
}


def read_with_polars():
    for name in TABLES:
        found = polars.scan_delta(str(FOLDER / "lake" / name)).collect()
        expected = polars.read_parquet(expected_path(name))
        same = found.select(expected.columns).sort(expected.columns).equals(expected.sort(expected.columns))
        if not same:
            same = rows_of(found.to_arrow()) == rows_of(expected.to_arrow())
        check(f"Polars {name}: {len(expected)} rows", same, f"{len(found)}")
        check(f"Polars {name}: types", dict(found.schema) == dict(expected.schema), f"{found.schema}")
    items = polars.scan_delta(str(FOLDER / "lake" / "items"))
    cut = polars.lit(datetime.datetime(2026, 1, 1, 0, 0, 0, 499499, UTC)).cast(polars.Datetime("us", "UTC"))
    filters = {
        "item_id = 9007199254741991": polars.col("item_id") == 9007199254741991,
        "title >= '🛒'": polars.col("title") >= "🛒",
        "price = 99999999999504.0001": polars.col("price") == decimal.Decimal("99999999999504.0001"),
        "first_seen_at >= TIMESTAMP '2026-01-01 00:00:00.499499'": polars.col("first_seen_at") >= cut,
        "site_id = 3": polars.col("site_id") == 3,
        "price IS NULL": polars.col("price").is_null(),
    }
    for text, condition in filters.items():
        wanted = expected_count(expected_path("items"), text)
        found = len(items.filter(condition).collect())
        check(f"Polars items: {text} finds {wanted}", found == wanted, f"found {found}")


def read_with_duckdb():
    for name in TABLES:
        found = duckdb.read_parquet(f"{FOLDER}/lake/{name}/*.parquet").to_arrow_table()
        compare(f"DuckDB {duckdb.__version__} glob {name}", found, parquet.read_table(expected_path(name)))


def read_catalog():
    """catalog.sql in a DuckDB that knows nothing of pricelake, with the lake as working directory."""
    expected = {name: parquet.read_table(expected_path(name)) for name in TABLES}
    before = os.getcwd()
    os.chdir(FOLDER / "lake")
    connection = duckdb.connect()
    connection.execute(pathlib.Path("catalog.sql").read_text())
    for name in TABLES:
        compare(f"DuckDB {duckdb.__version__} catalog {name}", connection.table(name).to_arrow_table(), expected[name])
    check("DuckDB catalog: an empty table has its columns", "product_id" in connection.table("price_spread").columns)
    os.chdir(before)


def read_with_spark():
    spark = open_spark()
    for name in TABLES:
        found = spark.read.format("delta").load(str(FOLDER / "lake" / name))
        expected = spark.read.parquet(expected_path(name))
        compare_in_spark(f"Spark {name}", found, expected)
    spark.read.format("delta").load(str(FOLDER / "lake" / "items")).createOrReplaceTempView("items")

    def count(text):
        return spark.sql(f"SELECT count(*) FROM items WHERE {text}").first()[0]

    compare_counts("Spark items", count, expected_path("items"))
    from delta.tables import DeltaTable as SparkTable

    path = str(FOLDER / "lake" / "items")
    check("Spark items: history", SparkTable.forPath(spark, path).history(1).first()["version"] == 22)
    scan = spark.sql("SELECT * FROM items WHERE item_id = 9007199254741991")
    files = len(scan.inputFiles())
    check("Spark items: a filter reads fewer files than the table has", files < 5, f"{files}")
    # Spark takes the table on: a version of its own on top of ours, then a checkpoint.
    spark.sql(f"DELETE FROM delta.`{path}` WHERE item_id = 9007199254741991")
    left = spark.read.format("delta").load(path).count()
    check("Spark items: Spark can write the next version", left == 499, f"{left}")
    spark.stop()


read_with_delta_rs()
read_with_polars()
read_with_duckdb()
read_catalog()
if "--spark" in sys.argv:
    read_with_spark()
sys.exit(finish())
