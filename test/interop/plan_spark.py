"""Has Spark read every query of --tables without running one, so that all defaults are tried: plan_spark.py takes the options of
spread.py. What it keeps must have types that a file can have."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "pipelines" / "spark"))
import spread  # noqa: E402

options = spread.read_options()
spark = spread.open_session("plan")
spread.read_lake(spark, options)
spread.read_files(spark, options)
variables = {"run_id": "", "first_day": options.first_day, "last_day": options.last_day, "base": "EUR", **options.set}
kept, failed = 0, 0
for table in spread.order_tables(options.tables.split(",")):
    for title, query in spread.read_steps(table):
        if title.startswith("columns: "):
            continue
        step, _, keep = title.removeprefix("step: ").partition(", ")
        rows = spark.sql(query, args={name: value for name, value in variables.items() if f":{name}" in query})
        kept += keep == "kept"
        if keep and re.search("void|interval", rows.schema.simpleString()):
            print(f"FAILED {step}: {rows.schema.simpleString()}")
            failed = 1
        spark.createDataFrame([], rows.schema).createOrReplaceTempView(step)
print(f"{'FAILED' if failed else 'ok    '} queries with their defaults, which keep {kept} steps")
spark.stop()
sys.exit(failed)
