"""The lakes that a job reads, each at the version that it had when the job began."""

from collections.abc import Iterable, Mapping
from functools import reduce

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, functions as f
from queries import Queries

# Tells rows of an item apart: a run that writes one again changes one of these.
ROW_COLUMNS = ("item_id", "run_id", "read_at", "change_id", "gone_at")


def union(parts: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, parts)


def choose_history(queries: Queries, all_history: DataFrame) -> DataFrame:
    """Each change once."""
    left = queries.run("union/left_history.sql", {"all_history": all_history})
    same = [all_history[name].eqNullSafe(left[name]) for name in left.columns]
    return all_history.join(left, same, "left_anti").drop("lake")


class Lake:
    """A lake, as a folder or on object storage. `number` is its place among the addresses in order."""

    def __init__(self, spark: SparkSession, address: str, number: int, versions: Mapping[str, int]):
        self.spark = spark
        self.address = address.rstrip("/")
        self.number = number
        self._versions = dict(versions)

    def path(self, table: str) -> str:
        return f"{self.address}/{table}"

    def version(self, table: str) -> int:
        if table not in self._versions:
            last = DeltaTable.forPath(self.spark, self.path(table)).history(1)
            self._versions[table] = last.select("version").first()[0]
        return self._versions[table]

    def read(self, table: str, version: int | None = None) -> DataFrame:
        at = self.version(table) if version is None else version
        return self.spark.read.format("delta").option("versionAsOf", at).load(self.path(table))

    def numbered(self, table: str) -> DataFrame:
        return self.read(table).withColumn("lake", f.lit(self.number).cast("bigint"))

    def newest_run(self) -> tuple[int, object]:
        """The number of the last run, and when it was published."""
        return self.read("runs").select(f.max("run_number"), f.max("finished_at")).first()

    def describe(self) -> dict[str, object]:
        """What is recorded of the lake when it is in the output."""
        identity = DeltaTable.forPath(self.spark, self.path("items")).detail().select("id").first()[0]
        versions = {table: self.version(table) for table in ("items", "history")}
        return {"id": identity, "run": self.newest_run()[0], **versions}

    def added_rows(self, table: str, since: int) -> DataFrame | None:
        """
        Rows of the files that the table has and had not at that version, without partition columns; None if there are no
        such files. All files, if the log does not reach back.
        """
        try:
            known = set(self.read(table, since).inputFiles())
        except AnalysisException:
            known = set()
        added = [file for file in self.read(table).inputFiles() if file not in known]
        return self.spark.read.parquet(*added) if added else None

    def closed_days(self) -> tuple[int, int] | None:
        """The first and the last day of price_spread_daily, in days since 1970, as its log notes them."""
        log = f"{self.path('price_spread_daily')}/_delta_log"
        entries = [self.spark.read.schema("txn STRUCT<appId: STRING, version: BIGINT>").json(f"{log}/*.json")]
        try:
            entries.append(self.spark.read.parquet(f"{log}/*.checkpoint*.parquet").select("txn.appId", "txn.version"))
        except AnalysisException:
            pass  # no checkpoint yet
        marks = union([entries[0].select("txn.appId", "txn.version"), *entries[1:]])
        last = {row[0]: row[1] for row in marks.groupBy("appId").agg(f.max("version")).collect()}
        day = last.get("pricelake.day", 0)
        return (last.get("pricelake.day.first", day), day) if day > 0 else None


class Lakes:
    """All lakes of a job."""

    def __init__(self, spark: SparkSession, addresses: Iterable[str], versions: Mapping[str, Mapping[str, int]] | None = None):
        """`versions` has those of tables that an earlier job read, by address."""
        known = versions or {}
        self.all = [Lake(spark, address, number, known.get(address, {})) for number, address in enumerate(sorted(addresses))]

    def numbered(self, table: str) -> DataFrame:
        """The rows of a table in all lakes, each with the number of its lake."""
        return union(lake.numbered(table) for lake in self.all)

    def newest(self, table: str) -> DataFrame:
        """The rows of a table that the pipeline file says: those of the lake that was published last."""
        return max(self.all, key=lambda lake: (lake.newest_run()[1], -lake.number)).read(table)

    def describe(self) -> dict[str, dict[str, object]]:
        return {lake.address: lake.describe() for lake in self.all}

    def closed_days(self) -> tuple[int, int] | None:
        """The days that every lake has closed, from the first one that any lake has."""
        days = [lake.closed_days() for lake in self.all]
        if any(one is None for one in days):
            return None
        first, last = min(one[0] for one in days), min(one[1] for one in days)
        return (first, last) if first <= last else None
