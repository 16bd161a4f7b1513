"""Runs what write-states.ts planned with delta-rs or Spark: foreign_writes.py <writes.json>"""

import json
import pathlib
import shutil
import sys

from deltalake import DeltaTable

from comparing import open_spark


def write_with_delta_rs(operation, path, where):
    table = DeltaTable(path)
    if operation == "OPTIMIZE":
        table.optimize.compact()
    if operation == "ZORDER":
        table.optimize.z_order(["item_id"])
    if operation == "VACUUM":
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    if operation == "DELETE":
        table.delete(where)


def write_with_spark(spark, operation, path, where):
    if operation == "OPTIMIZE":
        spark.sql(f"OPTIMIZE delta.`{path}`")
    if operation == "ZORDER":
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (item_id)")
    if operation == "VACUUM":
        spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    if operation == "DELETE":
        spark.sql(f"DELETE FROM delta.`{path}` WHERE {where}")


writes = json.loads(pathlib.Path(sys.argv[1]).read_text())
spark = None
if any(write["engine"] == "Spark" for write in writes):
    spark = open_spark()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
for write in writes:
    if "from" in write:
        shutil.copytree(write["from"], write["lake"])
    for table in write["tables"]:
        path = str(pathlib.Path(write["lake"]) / table)
        print("wrote", write["engine"], write["operation"], table, flush=True)
        if write["engine"] == "Spark":
            write_with_spark(spark, write["operation"], path, write.get("where"))
        else:
            write_with_delta_rs(write["operation"], path, write.get("where"))
if spark is not None:
    spark.stop()
