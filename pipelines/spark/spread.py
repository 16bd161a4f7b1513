"""Computes derived tables and analyses from the tables of a lake, with the queries that DuckDB runs (sql/, made by generate.py).

    spark-submit --packages io.delta:delta-spark_2.12:3.3.2 pipelines/spark/spread.py --lake ./lake --to ./derived

Reads `items`, `history`, `sites`, `sources`, `offer_rules` and `user_matches` as Delta tables and writes a folder of Parquet for each table. README.md says which
settings a cluster needs.

`pricelake query --engine spark` runs it with --arguments FILE alone: the other options as a JSON list, which neither the
command line nor its character set can change. With --versions, tables of the lake are read as they are published, and only
analyses are made; --copy-to brings the last of --tables to this machine."""

import argparse
import csv
import datetime
import decimal
import graphlib
import json
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
    "sources": "site_id BIGINT, source_id BIGINT, last_seen_at TIMESTAMP, read_at TIMESTAMP, read_by STRING, clock_at TIMESTAMP, stale_after BIGINT, is_stale BOOLEAN",
    "runs": "run_id STRING, run_number BIGINT, caught_up_at TIMESTAMP, finished_at TIMESTAMP",
}
WEIGHT_UNITS = ("category", "shop", "product", "brand", "item", "region", "dataset")
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
    try:
        if options.copy_to:
            remove_stale(spark, options.to.rpartition("/")[0])
        make_tables(spark, options)
    finally:
        remove(spark, options.to if options.copy_to else f"{options.to}/_steps")
    spark.stop()


def make_tables(spark, options):
    read_lake(spark, options)
    read_files(spark, options)
    variables = {"run_id": options.run_id, "first_day": options.first_day, "last_day": options.last_day, "base": options.fx_base, **options.set}
    wanted = options.tables.split(",")
    for table in order_tables(wanted, options.versions):
        steps = make_table(spark, table, variables, f"{options.to}/_steps")
        if table in wanted:
            spark.table(table).write.mode("overwrite").parquet(f"{options.to}/{table}")
            rows = read_back(spark, f"{options.to}/{table}")
            print(f"{table}: {rows.count()} rows")
            rows.createOrReplaceTempView(table)
            for step in steps:
                spark.catalog.dropTempView(step)
    if options.copy_to:
        path, files = find_path(spark, f"{options.to}/{wanted[-1]}")
        files.copyToLocalFile(False, path, find_path(spark, f"file://{options.copy_to}")[0], True)


def read_back(spark, folder):
    """The rows of a folder that this program wrote: its name is no pattern, whatever brackets it has."""
    return spark.read.parquet(re.sub(r"([\\*?\[\]{}])", r"\\\1", folder))


def find_path(spark, folder):
    """A folder as Hadoop sees it, and its file system."""
    path = spark._jvm.org.apache.hadoop.fs.Path(folder)
    return path, path.getFileSystem(spark._jsc.hadoopConfiguration())


def remove(spark, folder):
    path, files = find_path(spark, folder)
    files.delete(path, True)


def remove_stale(spark, folder):
    """Removes answers in a folder whose program was killed: those that began two days ago or earlier."""
    path, files = find_path(spark, folder)
    oldest = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)).strftime("%Y-%m-%dT%H-%M-%S")
    for one in files.listStatus(path) if files.exists(path) else []:
        name = one.getPath().getName()
        if re.match(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-", name) and name < oldest:
            files.delete(one.getPath(), True)


def read_lake(spark, options):
    """The tables of the lake as views: those that are named at their versions, or those that all others are made of."""
    for table, version in options.versions.items():
        rows = spark.read.format("delta")
        path = f"{options.lake}/{table}"
        # Before a table came, it had no rows.
        rows = rows.load(path).where("false") if version < 0 else rows.option("versionAsOf", version).load(path)
        rows.createOrReplaceTempView(table)
    if options.versions:
        return
    for table in ("items", "history", "sites"):
        spark.read.format("delta").load(f"{options.lake}/{table}").createOrReplaceTempView(table)
    for table, columns in OPTIONAL.items():
        read_optional(spark, f"{options.lake}/{table}", columns).createOrReplaceTempView(table)


def read_files(spark, options):
    """The user's own files as views."""
    if options.fx:
        spark.createDataFrame(read_rates(options.fx), "date DATE, currency STRING, rate DECIMAL(28, 10)").createOrReplaceTempView("rates")
    if options.weights:
        columns = "kind STRING, unit STRING, period DATE, weight DECIMAL(28, 10)"
        spark.createDataFrame(read_weights(options.weights), columns).createOrReplaceTempView("weights")
        tree = [] if options.tree is None else read_tree(options.tree)
        spark.createDataFrame(tree, "child STRING, parent STRING").createOrReplaceTempView("tree")


def read_optional(spark, path, columns):
    """A table that a lake may lack: it has no rows then."""
    try:
        return spark.read.format("delta").load(path)
    except AnalysisException:
        return spark.createDataFrame([], columns)


def order_tables(wanted, published=()):
    """The tables and analyses, and what they read but for published tables, each behind those that it reads."""
    reads, waiting = {}, list(wanted)
    while waiting:
        table = waiting.pop()
        if table not in reads:
            reads[table] = find_words(r"(?:FROM|JOIN) (\w+)", table) & {*NAMES, "offer_prices"} - {table, *published}
            waiting += reads[table]
    return list(graphlib.TopologicalSorter(reads).static_order())


def find_words(pattern, table):
    return {word for _, query in read_steps(table) for word in re.findall(pattern, query)}


def list_variables():
    """Variables of the analyses; each query says in its file what they mean."""
    names = set().union(*(find_words(r"(?<=[ (]):([a-z_]+)", table) for table in NAMES))
    return sorted(names - {"run_id", "first_day", "last_day", "base"})


def read_day(text):
    """A day such as 2026-11-20, 2026-1-5 or 2026/1/5. Raises ValueError for anything else."""
    parts = re.fullmatch(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})", text, re.ASCII)
    if parts is None:
        raise ValueError(text)
    return datetime.date(*map(int, parts.group(1, 3, 4)))


def read_rates(file):
    """(date, currency, rate) of a file of exchange rates; ends the program at a line that is none."""
    rates = {}
    with open(file, newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        for line in reader:
            day, currency, text = (line.get(name) or "" for name in ("date", "currency", "rate"))
            try:
                key = read_day(day), currency
                rate = decimal.Decimal(text).quantize(decimal.Decimal("1e-10"), decimal.ROUND_HALF_UP)
                is_rate = rate > 0 and re.fullmatch("[A-Z]{3}", currency) and key not in rates
            except (ValueError, decimal.InvalidOperation):
                is_rate = False
            if not is_rate:
                sys.exit(f"{file}:{reader.line_num}: {day},{currency},{text} is no rate, or a second one: give date,currency,rate, e.g. 2026-11-20,PLN,4.2435")
            rates[key] = rate
    return [(*key, rate) for key, rate in rates.items()]


def read_csv(file):
    with open(file, newline="", encoding="utf-8-sig") as lines:
        yield from csv.DictReader(lines)


def read_weights(file):
    """(kind, unit, period, weight) of a file of weights that `pricelake query` has checked."""
    rows = []
    for line in read_csv(file):
        period, weight = line.pop("period", None), line.pop("weight")
        [(kind, unit)] = [(name, line[name]) for name in WEIGHT_UNITS if line.get(name)]
        exact = decimal.Decimal(weight).quantize(decimal.Decimal("1e-10"), decimal.ROUND_HALF_UP)
        try:
            rows.append((kind, unit, read_day(period) if period else None, exact))
        except ValueError:
            sys.exit(f"{file}: period {period} is not a day such as 2026-11-01")
    return rows


def read_tree(file):
    """(child, node) for each child of a file and each node above it: Spark has no recursion."""
    parents = {line["child"]: line["parent"] for line in read_csv(file)}
    rows = []
    for child in parents:
        node = child
        for _ in range(100):
            if (node := parents.get(node)) is None:
                break
            rows.append((child, node))
    return rows


def read_versions(text):
    return {name: int(version) for name, version in (one.split("=") for one in text.split(",") if one)}


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
    parser.add_argument("--weights", metavar="FILE", help="weights, for weighted_index: a CSV file on the driver with category (or shop, product, …), weight and period")
    parser.add_argument("--tree", metavar="FILE", help="with --weights: a CSV file with child,parent")
    parser.add_argument("--versions", type=read_versions, default={}, metavar="TABLE=N,…", help="read these tables of the lake at these versions, instead of making them")
    parser.add_argument("--copy-to", metavar="FOLDER", help="copy the last of --tables to this folder of the driver, and remove --to")
    parser.add_argument("--run-id", default="spark", help="what run_id holds (default: %(default)s)")
    arguments = sys.argv[1:]
    if arguments[:1] == ["--arguments"]:
        arguments = json.loads(pathlib.Path(arguments[1]).read_text("utf8"))
    options = parser.parse_args(arguments)
    wanted = options.tables.split(",")
    if unknown := set(wanted) - set(NAMES):
        parser.error(f"--tables: there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if "price_spread_daily" in order_tables(wanted, options.versions) and None in (options.first_day, options.last_day):
        parser.error("price_spread_daily needs --first-day and --last-day")
    if "law_of_one_price" in wanted and options.fx is None:
        parser.error("law_of_one_price needs --fx")
    if "weighted_index" in wanted and options.weights is None:
        parser.error("weighted_index needs --weights")
    given, variables = dict(one.partition("=")[::2] for one in options.set), list_variables()
    if unknown := set(given) - set(variables):
        parser.error(f"--set: there is no {', '.join(sorted(unknown))}; there are {', '.join(variables)}")
    if options.weights:
        # The weights say which index they are of.
        given["by"] = read_weights(options.weights)[0][0]
    options.set = {name: given.get(name) for name in variables}
    return options


def open_session(name):
    builder = SparkSession.builder.appName(name)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make_table(spark, table, variables, steps_folder):
    """Makes the view of a table; gives the views of its steps, of which some are kept in a folder."""
    columns, steps = None, []
    for title, query in read_steps(table):
        if title.startswith("columns: "):
            columns = title.removeprefix("columns: ")
            continue
        step, _, keep = title.removeprefix("step: ").partition(", ")
        rows = spark.sql(query, args={name: value for name, value in variables.items() if f":{name}" in query})
        if step == table and columns:
            rows = rows.select([functions.col(one.split(" ")[0]).cast(one.split(" ", 1)[1]) for one in columns.split(", ")])
        if keep:
            # Made now: the plan of a step would hold the plans of all before it, once for each time that they are read. It is
            # written, not kept on the workers: of these, any may be lost. Files have sizes; those that Spark expects of a
            # checkpoint are multiplied by each join, until planning takes minutes.
            folder = f"{steps_folder}/{step}"
            rows.write.mode("overwrite").parquet(folder)
            rows = read_back(spark, folder)
        rows.createOrReplaceTempView(step)
        steps.append(step)
    return [step for step in steps if step != table]


def read_steps(table):
    """(title, query) of each step; the title of the columns has no query."""
    for part in (SQL / f"{table}.sql").read_text("utf8").split("\n-- ")[1:]:
        title, _, query = part.partition("\n")
        yield title, query.rstrip().removesuffix(";")


if __name__ == "__main__":
    main()
