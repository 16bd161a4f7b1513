"""Merges the landing of a first copy into the tables: what `pricelake sync` does of typing and merging, on a cluster.

    pricelake sync --land-only
    spark-submit pipelines/spark/merge.py --lake /data/lake
    pricelake sync

Types every landed row exactly, keeps one row an item, and commits `history`, `stale_items`, `sites`, `rejects` and `items` with
the marks by which `pricelake sync` continues. The lake is in a folder that all workers have. Run again after a crash: what is
committed stays, and nothing is committed twice."""

import argparse
import datetime
import itertools
import pathlib
import re
import shutil

from pyspark.sql import SparkSession, functions as f

import csv_rows
import delta_log
from items import type_change, type_item
from landed import Landing
from typed import Fault, MAX_RAW_CHARACTERS, as_text, exact_bigint, exact_instant, read_json

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("typed.py", "items.py", "csv_rows.py", "delta_log.py", "landed.py", "merge.py")
INSTANTS = ("TIMESTAMP", "DATE")
# A change is surely in rows that were read an hour later.
LAG_MICROS = 3_600_000_000
UNSHOWN, UNTYPED = "a change is not shown", "its row cannot be typed"
SITE = ["site_name", "site_host", "site_attribution"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", required=True, help="the folder of the lake, as every worker sees it")
    lake = pathlib.Path(parser.parse_args().lake).resolve()
    landing = Landing(lake)
    spark = open_session()
    staging = lake / "_pricelake" / "staging" / f"{landing.last('begin')['runId']}-spark"
    shutil.rmtree(staging, ignore_errors=True)
    merge(spark, lake, landing, staging)
    shutil.rmtree(staging, ignore_errors=True)
    spark.stop()


def open_session():
    builder = SparkSession.builder.appName("pricelake merge").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.sql.ansi.enabled", "true")
    builder = builder.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    builder = builder.config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
    builder = builder.config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
    spark = builder.config("spark.sql.parquet.compression.codec", "zstd").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for module in MODULES:
        spark.sparkContext.addPyFile(str(HERE / module))
    return spark


def merge(spark, lake, landing, staging):
    begin = landing.last("begin")
    run, run_id = int(begin["runNumber"]), begin["runId"]
    moment = fix_moment(landing)
    exported = type_segments(spark, landing, staging)
    changes = type_changes(spark, landing, staging)
    cursor = int(landing.last("feed.done")["cursor"])
    watermark = int(landing.last("watermark")["cursor"] or 0)
    items = make_items(exported.where("reject_reason IS NULL"))
    sites = make_sites(exported, changes, watermark, moment)
    history = changes.where("reject_reason IS NULL").dropDuplicates(["change_id"])
    settle(landing, exported, changes, items, history)
    marks = {"pricelake.run": run}
    ahead = history.agg(f.max("change_id")).first()[0] or 0
    applied = {**marks, "pricelake.cursor": cursor}
    named = rename_items(items, sites)
    tables = {
        "history": (history, {**applied, **({"pricelake.webhook": ahead} if ahead > cursor else {})}),
        "stale_items": (list_stale(items, history, exported, changes, watermark).withColumn("first_read_at", moment), marks),
        "sites": (sites, marks),
        "rejects": (list_rejects(exported, changes, moment), marks),
        "items": (named, {**applied, **mark_datasets(landing)}),
    }
    for table, (rows, mark) in tables.items():
        if delta_log.is_committed(lake, table, run):
            print(f"{table}: committed before")
            continue
        files = stage(spark, rows.withColumn("run_id", f.lit(run_id)), table, staging)
        if files or table == "items":
            delta_log.commit(lake, table, files, mark, run_id)
        print(f"{table}: {sum(one['rows'] for one in files)} rows")
    if landing.last("merged") is None:
        landing.append({"type": "merged", "at": now()})


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def fix_moment(landing):
    """The moment that dates what is found, the same in every try."""
    if landing.last("normalize") is None:
        landing.append({"type": "normalize", "at": now(), "serviceAt": None})
    return f.lit(landing.last("normalize")["at"]).cast("timestamp")


def type_segments(spark, landing, staging):
    """Typed rows of all segments, one task each, and those that can't be typed, with their reasons."""
    segments = landing.list_segments()
    known, chosen = landing.list_datasets()
    names = [name for _, name in known]
    columns = [one for one in delta_log.read_tables()["items"]["columns"] if one["name"] not in ("run_id", "gone_at", "change_id")]
    typed = spark.sparkContext.parallelize(segments, len(segments)).flatMap(lambda one: type_segment(*one, names))
    return keep(spark, typed, [*columns, *text_columns("site_attribution")], staging / "typed-items")


def type_segment(path, read_at, names):
    with open(path, "rb") as file:
        data = file.read()
    at = exact_instant(read_at)
    is_csv = path.endswith(".csv")
    for line, record, row in read_csv(data) if is_csv else read_lines(data):
        place = {"part": pathlib.Path(path).name, "line_number": line, "read_at": at}
        try:
            yield {**place, **type_item(row(), names, is_csv)}
        except Fault as fault:
            yield {**place, "item_id": find_item(row), "raw": shorten(record), "reject_reason": str(fault)}


def find_item(row, *path):
    """The item of a row that can't be typed, if the row shows it."""
    try:
        value = row()
        for name in path:
            value = dict(value)[name]
        return exact_bigint(as_text(dict(value)["id"]))
    except (Fault, KeyError, TypeError, ValueError):
        return None


def read_lines(data):
    """(place, bytes, how to read them) of each line that is not blank."""
    for place, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield place, line, lambda line=line: read_json(line)


def read_csv(data):
    records = csv_rows.read_records(data)
    columns = csv_rows.read_header(next(records, (1, b""))[1])
    objects = csv_rows.find_objects(itertools.islice(csv_rows.read_records(data), 1, None), columns)
    for place, record in records:
        yield place, record, lambda record=record: csv_rows.read_row(record, columns, objects)


def shorten(record):
    raw = record.decode("utf8", "replace")
    return raw if len(raw) <= MAX_RAW_CHARACTERS else f"{raw[:MAX_RAW_CHARACTERS]}… ({len(record)} bytes in all)"


def type_changes(spark, landing, staging):
    path, end = landing.find_feed()
    columns = [one for one in delta_log.read_tables()["history"]["columns"] if one["name"] != "run_id"]
    typed = spark.sparkContext.parallelize([(path, end)] if path else [], 1).flatMap(lambda one: type_feed(*one))
    return keep(spark, typed, [*columns, *text_columns(*SITE)], staging / "typed-changes")


def type_feed(path, end):
    with open(path, "rb") as file:
        data = file.read(end)
    for place, line, row in read_lines(data):
        try:
            yield {"part": pathlib.Path(path).name, "line_number": place, **type_change(row())}
        except Fault as fault:
            told = {"item_id": find_item(row, "item"), "raw": shorten(line), "reject_reason": str(fault)}
            yield {"part": pathlib.Path(path).name, "line_number": place, **told}


def text_columns(*names):
    return [{"name": name, "sql": "STRING"} for name in names]


def keep(spark, rows, columns, folder):
    """Writes typed rows beside the lake, and reads them back: each landed byte is read once."""
    places = [*text_columns("part"), {"name": "line_number", "sql": "BIGINT"}, *text_columns("raw", "reject_reason")]
    every = [*places, *columns]
    raw = {one["name"]: "BIGINT" if one["sql"] in INSTANTS else one["sql"] for one in every}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in raw.items())
    tuples = rows.map(lambda row: tuple(row.get(name) for name in raw))
    typed = spark.createDataFrame(tuples, schema)
    typed.selectExpr(*(cast(one) for one in every)).write.parquet(str(folder))
    return spark.read.parquet(str(folder))


def cast(column):
    name, kind = column["name"], column["sql"]
    if kind == "DATE":
        return f"date_from_unix_date(CAST(`{name}` AS INT)) AS `{name}`"
    return f"timestamp_micros(`{name}`) AS `{name}`" if kind == "TIMESTAMP" else f"`{name}`"


def make_items(typed):
    """One row an item, the newest (src/apply/typed-rows.ts)."""
    return typed.selectExpr(
        "*",
        """row_number() OVER (PARTITION BY item_id ORDER BY last_changed_at DESC NULLS LAST, last_seen_at DESC NULLS LAST,
          read_at DESC, part DESC) AS place""",
    ).where("place = 1")


def make_sites(exported, changes, watermark, moment):
    """Every website as the latest answer shows it (pipelines/models/sites.sql)."""
    site = "site_id, coalesce(site_name, site_host, '') AS name, coalesce(site_host, '') AS host, site_attribution AS attribution"
    of_items = exported.where("reject_reason IS NULL").selectExpr(*split(site), "1 AS rank", "unix_micros(last_seen_at) AS place")
    rank = f"CASE WHEN change_id > {watermark} THEN 2 ELSE 0 END AS rank"
    of_changes = changes.where("reject_reason IS NULL AND site_id IS NOT NULL").selectExpr(*split(site), rank, "change_id AS place")
    seen = of_items.unionByName(of_changes).groupBy("site_id").agg(
        f.expr("max_by(named_struct('name', name, 'host', host), named_struct('rank', rank, 'place', coalesce(place, 0)))").alias("site"),
        f.expr(
            "max_by(attribution, named_struct('rank', rank, 'place', coalesce(place, 0))) FILTER (WHERE attribution IS NOT NULL)"
        ).alias("attribution"),
        f.expr("count(DISTINCT name, host) > 1").alias("is_renamed"),
    )
    return seen.selectExpr("site_id", "site.name", "site.host", "attribution", "is_renamed").withColumn("valid_from", moment)


def split(columns):
    return re.split(r", (?![^(]*\))", columns)


def rename_items(items, sites):
    """Items name a website as it is called now."""
    renamed = sites.where("is_renamed").selectExpr("site_id", "name AS new_name", "host AS new_host")
    joined = items.join(f.broadcast(renamed), "site_id", "left")
    names = {"site_name": "new_name", "site_host": "new_host"}
    return joined.select(
        *(f.coalesce(f.col(names[one]), f.col(one)).alias(one) if one in names else f.col(one) for one in items.columns)
    )


def list_stale(items, history, exported, changes, watermark):
    """Items that the next run reads again."""
    stale = find_stale(items, history, watermark)
    return stale.unionByName(find_untyped(items, exported, changes).join(stale, "item_id", "left_anti"))


def find_stale(items, history, watermark):
    """Items of which a change may tell more than their rows show."""
    recent = history.where(f"change_id <= {watermark}").agg(f.max("observed_at")).first()[0]
    since = f.lit(recent) - f.expr(f"INTERVAL {LAG_MICROS // 1_000_000} SECOND")
    told = history.where("item_id IS NOT NULL").where(
        (f.col("change_id") > watermark) | (f.col("observed_at") >= since if recent is not None else f.lit(False))
    )
    rows = told.join(items.selectExpr("item_id", "last_changed_at", "removed_at"), "item_id", "left").where(
        f"change_id > {watermark} OR NOT coalesce(greatest(last_changed_at, removed_at) >= observed_at, false)"
    )
    first = rows.groupBy("item_id").agg(f.min("change_id").alias("change_id"), f.min_by("observed_at", "change_id").alias("observed_at"))
    return first.withColumn("reason", f.lit(UNSHOWN))


def find_untyped(items, exported, changes):
    """Items of which only rows that can't be typed are there, or of which a change can't be typed (pipelines/models/macros.sql)."""
    rejected = lambda rows, reason: rows.where("reject_reason IS NOT NULL AND item_id IS NOT NULL").selectExpr("item_id", f"'{reason}' AS reason")  # noqa: E731
    of_rows = rejected(exported, UNTYPED).join(items, "item_id", "left_anti")
    found = of_rows.unionByName(rejected(changes, UNSHOWN)).groupBy("item_id").agg(f.max("reason").alias("reason"))
    return found.selectExpr("item_id", "reason", "CAST(NULL AS BIGINT) AS change_id", "CAST(NULL AS TIMESTAMP) AS observed_at")


def list_rejects(exported, changes, moment):
    columns = "part", "line_number", "reject_reason AS reason", "raw"
    rejected = [rows.where("reject_reason IS NOT NULL").selectExpr(f"'{table}' AS table_name", *columns) for table, rows in
                (("items", exported), ("history", changes))]
    return rejected[0].unionByName(rejected[1]).withColumn("rejected_at", moment)


def settle(landing, exported, changes, items, history):
    """The row equation, before anything is committed; and that changed items are left to the next run."""
    rejected = sum(rows.where("reject_reason IS NOT NULL").count() for rows in (exported, changes))
    typed = exported.count() + changes.count() - rejected
    written = items.count() + history.count()
    # The stages of a run allow them in this order (src/journal/transitions.ts).
    if landing.last("hydrate.done") is None:
        landing.append({"type": "hydrate.done", "calls": 0})
    if landing.last("tally") is None:
        figures = {"received": landing.count_received(), "written": written, "rejected": rejected, "deduplicated": typed - written}
        landing.append({"type": "tally", **{name: str(value) for name, value in figures.items()}})


def mark_datasets(landing):
    """What the items are a copy of (src/lake/table-state.ts)."""
    known, chosen = landing.list_datasets()
    ids = sorted(chosen if chosen is not None else [id for id, _ in known])
    return {**({} if chosen is None else {"pricelake.datasets": len(ids)}), **{f"pricelake.dataset.{id}": 1 for id in ids}}


def stage(spark, rows, table, staging):
    """Writes a table's rows as Parquet beside the lake; a folder for each value that it is partitioned by."""
    schema, folder = delta_log.read_tables()[table], staging / table
    absent = {"gone_at", "change_id", "valid_to"} - set(rows.columns)
    for name in absent:
        rows = rows.withColumn(name, f.lit(None))
    if table == "sites":
        rows = rows.withColumn("is_current", f.lit(True))
    columns = [f.col(one["name"]).cast(one["sql"]).alias(one["name"]) for one in schema["columns"]]
    chosen = rows.select(*columns)
    parts = [f"_{name}" for name in schema["partitionBy"]]
    for name, part in zip(schema["partitionBy"], parts):
        chosen = chosen.withColumn(part, f.col(name))
    writer = chosen.repartition(*parts).write if parts else chosen.coalesce(1).write
    (writer.partitionBy(*parts) if parts else writer).parquet(str(folder))
    counts = dict(spark.read.parquet(str(folder)).groupBy(f.input_file_name()).count().collect())
    rows_of = {pathlib.Path(name).name + "|" + partition_text(name): count for name, count in counts.items()}
    paths = [str(path) for path in folder.rglob("*.parquet")]
    sums = dict(spark.sparkContext.parallelize(paths, max(1, len(paths))).map(lambda path: (path, delta_log.seal(path))).collect())
    files = []
    for path in paths:
        n = rows_of.get(pathlib.Path(path).name + "|" + partition_text(path), 0)
        if n > 0:
            files.append({"path": path, "rows": n, "sha256": sums[path], "partition": dict(partition_of(path))})
    return files


def partition_of(path):
    for part in pathlib.Path(path).parent.parts:
        if part.startswith("_") and "=" in part:
            name, value = part[1:].split("=", 1)
            yield name, value


def partition_text(path):
    return ",".join("=".join(pair) for pair in partition_of(path))


if __name__ == "__main__":
    main()
