"""Computes derived tables and analyses from the tables of a lake, with the queries that DuckDB runs (sql/, made by generate.py).

    spark-submit --packages io.delta:delta-spark_2.12:3.3.2 pipelines/spark/spread.py --lake ./lake --to ./derived

Reads `items`, `history`, `sites`, `sources`, `offer_rules` and `user_matches` as Delta tables and writes a folder of Parquet for each table. README.md says which
settings a cluster needs."""

import argparse
import csv
import datetime
import decimal
import graphlib
import pathlib
import re
import sys

from pyspark.sql import SparkSession, functions
from pyspark.sql.utils import AnalysisException

SQL = pathlib.Path(__file__).resolve().parent / "sql"
# What is written if nothing is named: the derived tables but for price_spread_daily, which needs days.
TABLES = ["products", "product_prices", "shop_currencies", "offers", "price_spread", "matches"]
# All that can be named: what has a file. The offers of each day are only read by others.
NAMES = sorted(path.stem for path in SQL.glob("*.sql") if path.stem != "offer_prices")
OPTIONAL = {
    "offer_rules": "rule STRING, site_id BIGINT, meaning STRING, text STRING, run_id STRING",
    "user_matches": "product_id STRING, other_id STRING, is_match BOOLEAN, run_id STRING",
    "sources": "site_id BIGINT, source_id BIGINT, last_seen_at TIMESTAMP, is_stale BOOLEAN",
}
SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Days and instants are UTC, an overflow is an error, and nothing of a query depends on the version's defaults.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.legacy.sizeOfNull": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    # The default of Spark has no zone, and nanoseconds, which end in 2262.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def main():
    options = read_options()
    spark = open_session("pricelake spread")
    kept = f"{options.to}/_steps"
    spark.sparkContext.setCheckpointDir(kept)
    for table in ("items", "history", "sites"):
        spark.read.format("delta").load(f"{options.lake}/{table}").createOrReplaceTempView(table)
    for table, columns in OPTIONAL.items():
        read_optional(spark, f"{options.lake}/{table}", columns).createOrReplaceTempView(table)
    if options.fx:
        spark.createDataFrame(read_rates(options.fx), "date DATE, currency STRING, rate DECIMAL(28, 10)").createOrReplaceTempView("rates")
    variables = {"run_id": options.run_id, "first_day": options.first_day, "last_day": options.last_day, "base": options.fx_base, **options.set}
    wanted = options.tables.split(",")
    for table in order_tables(wanted):
        steps = make_table(spark, table, variables)
        if table in wanted:
            spark.table(table).write.mode("overwrite").parquet(f"{options.to}/{table}")
            print(f"{table}: {spark.read.parquet(f'{options.to}/{table}').count()} rows")
            spark.read.parquet(f"{options.to}/{table}").createOrReplaceTempView(table)
            # What was kept is freed once no view names it.
            for step in steps:
                spark.catalog.dropTempView(step)
    remove(spark, kept)
    spark.stop()


def remove(spark, folder):
    path = spark._jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)


def read_optional(spark, path, columns):
    """A table that a lake may lack: it has no rows then."""
    try:
        return spark.read.format("delta").load(path)
    except AnalysisException:
        return spark.createDataFrame([], columns)


def order_tables(wanted):
    """The tables and analyses, and what they read, each behind those that it reads."""
    reads, waiting = {}, list(wanted)
    while waiting:
        table = waiting.pop()
        if table not in reads:
            reads[table] = find_words(r"(?:FROM|JOIN) (\w+)", table) & {*NAMES, "offer_prices"} - {table}
            waiting += reads[table]
    return list(graphlib.TopologicalSorter(reads).static_order())


def find_words(pattern, table):
    return {word for _, query in read_steps(table) for word in re.findall(pattern, query)}


def list_variables():
    """Variables of the analyses; each query says in its file what they mean."""
    names = set().union(*(find_words(r"(?<=[ (]):([a-z_]+)", table) for table in NAMES))
    return sorted(names - {"run_id", "first_day", "last_day", "base"})


def read_rates(file):
    """(date, currency, rate) of a file of exchange rates; ends the program at a line that is none."""
    rates = {}
    with open(file, newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        for line in reader:
            day, currency, text = (line.get(name) or "" for name in ("date", "currency", "rate"))
            try:
                key = datetime.date.fromisoformat(day), currency
                rate = decimal.Decimal(text).quantize(decimal.Decimal("1e-10"), decimal.ROUND_HALF_UP)
                is_rate = rate > 0 and re.fullmatch("[A-Z]{3}", currency) and key not in rates
            except (ValueError, decimal.InvalidOperation):
                is_rate = False
            if not is_rate:
                sys.exit(f"{file}:{reader.line_num}: {day},{currency},{text} is no rate, or a second one: give date,currency,rate, e.g. 2026-11-20,PLN,4.2435")
            rates[key] = rate
    return [(*key, rate) for key, rate in rates.items()]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", required=True, help="the folder of the tables, or its URL")
    parser.add_argument("--to", required=True, help="where the tables are written, a folder of Parquet each")
    parser.add_argument("--tables", default=",".join(TABLES), help="names with commas between, of tables and analyses (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the analyses")
    parser.add_argument("--first-day", type=datetime.date.fromisoformat, help="of price_spread_daily")
    parser.add_argument("--last-day", type=datetime.date.fromisoformat, help="of price_spread_daily, included")
    parser.add_argument("--fx", metavar="FILE", help="exchange rates, for law_of_one_price: a CSV file on the driver with date,currency,rate")
    parser.add_argument("--fx-base", default="EUR", help="base currency of the rates: what one unit of it buys (default: %(default)s)")
    parser.add_argument("--run-id", default="spark", help="what run_id holds (default: %(default)s)")
    options = parser.parse_args()
    wanted = options.tables.split(",")
    if unknown := set(wanted) - set(NAMES):
        parser.error(f"--tables: there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if "price_spread_daily" in order_tables(wanted) and None in (options.first_day, options.last_day):
        parser.error("price_spread_daily needs --first-day and --last-day")
    if "law_of_one_price" in wanted and options.fx is None:
        parser.error("law_of_one_price needs --fx")
    given, variables = dict(one.partition("=")[::2] for one in options.set), list_variables()
    if unknown := set(given) - set(variables):
        parser.error(f"--set: there is no {', '.join(sorted(unknown))}; there are {', '.join(variables)}")
    options.set = {name: given.get(name) for name in variables}
    return options


def open_session(name):
    builder = SparkSession.builder.appName(name)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make_table(spark, table, variables):
    """Makes the view of a table; gives the views of its steps, of which some are kept until it is written."""
    columns, steps = None, []
    for title, query in read_steps(table):
        if title.startswith("columns: "):
            columns = title.removeprefix("columns: ")
            continue
        step, _, keep = title.removeprefix("step: ").partition(", ")
        rows = spark.sql(query, args={name: value for name, value in variables.items() if f":{name}" in query})
        if step == table and columns:
            rows = rows.select([functions.col(one.split(" ")[0]).cast(one.split(" ", 1)[1]) for one in columns.split(", ")])
        # Made now: the plan of a step would hold the plans of all before it, once for each time that they are read. It is
        # written, not kept on the workers: of these, any may be lost.
        (rows.checkpoint() if keep else rows).createOrReplaceTempView(step)
        steps.append(step)
    return [step for step in steps if step != table]


def read_steps(table):
    """(title, query) of each step; the title of the columns has no query."""
    for part in (SQL / f"{table}.sql").read_text("utf8").split("\n-- ")[1:]:
        title, _, query = part.partition("\n")
        yield title, query.rstrip().removesuffix(";")


if __name__ == "__main__":
    main()
