"""The Delta tables that a job writes."""

import json
from collections.abc import Sequence

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, functions as f

# The property of table items that says which versions of the lakes the tables are made of.
STATE = "pricelake.lakes"


class Output:
    """
    The tables below a folder. What changed since the last job is what differs from `items`, so its rows are written after
    those of all other tables, and the state after these: the next job does again what a stopped one did.
    """

    def __init__(self, spark: SparkSession, address: str, run_id: str):
        self.spark = spark
        self.address = address.rstrip("/")
        self.run_id = run_id

    def path(self, table: str) -> str:
        return f"{self.address}/{table}"

    def exists(self, table: str) -> bool:
        return DeltaTable.isDeltaTable(self.spark, self.path(table))

    def read(self, table: str) -> DataFrame:
        return self.spark.read.format("delta").load(self.path(table))

    def read_state(self) -> dict | None:
        """What the last whole job recorded; None if there was none, or one was stopped while it made everything again."""
        if not self.exists("items"):
            return None
        properties = DeltaTable.forPath(self.spark, self.path("items")).detail().select("properties").first()[0]
        return json.loads(properties[STATE]) if STATE in properties else None

    def write_state(self, state: dict) -> None:
        text = json.dumps(state).replace("\\", "\\\\").replace("'", "\\'")
        self.spark.sql(f"ALTER TABLE delta.`{self.path('items')}` SET TBLPROPERTIES ('{STATE}' = '{text}')")

    def remove_state(self) -> None:
        if self.exists("items"):
            self.spark.sql(f"ALTER TABLE delta.`{self.path('items')}` UNSET TBLPROPERTIES IF EXISTS ('{STATE}')")

    def overwrite(self, table: str, rows: DataFrame) -> None:
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(self.path(table))

    def overwrite_different(self, table: str, rows: DataFrame) -> None:
        """Writes a small table again if its rows differ."""
        if self.differs(table, rows, [f"`{name}`" for name in rows.columns if name != "run_id"]):
            self.overwrite(table, rows)

    def differs(self, table: str, rows: DataFrame, values: Sequence[str]) -> bool:
        return not self.exists(table) or not self.find_different(table, rows, values).isEmpty()

    def find_different(self, table: str, rows: DataFrame, values: Sequence[str]) -> DataFrame:
        """These values of the rows that only one side has."""
        old, new = self.read(table).selectExpr(*values), rows.selectExpr(*values)
        return old.exceptAll(new).union(new.exceptAll(old))

    def replace(self, table: str, key: Sequence[str], rows: DataFrame, scope: DataFrame | None) -> None:
        """
        Makes these the rows of the products in scope, in one commit; None is all products. Rows that stay the same are not
        written.
        """
        if not self.exists(table):
            self.overwrite(table, rows)
            return
        stored = self.read(table)
        old = stored if scope is None else stored.join(scope, "product_id", "left_semi")
        values = [name for name in stored.columns if name != "run_id"]
        same = [old[name].eqNullSafe(rows[name]) for name in values]
        new = rows.join(old, [*same], "left_anti").select(stored.columns).withColumn("is_gone", f.lit(False))
        gone = old.join(rows, list(key), "left_anti").select(stored.columns).withColumn("is_gone", f.lit(True))
        self.merge(table, key, new.unionByName(gone))

    def merge(self, table: str, key: Sequence[str], changes: DataFrame) -> None:
        columns = {f"`{name}`": f"new.`{name}`" for name in changes.columns if name != "is_gone"}
        (
            DeltaTable.forPath(self.spark, self.path(table))
            .alias("old")
            .merge(changes.alias("new"), " AND ".join(f"old.{name} = new.{name}" for name in key))
            .whenMatchedDelete("new.is_gone")
            .whenMatchedUpdate(set=columns)
            .whenNotMatchedInsert("NOT new.is_gone", columns)
            .execute()
        )

    def remove(self, address: str) -> None:
        context = self.spark.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(address)
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
