"""Runs analyses of pipelines/analysis over the tables that job.py has written."""

import re
from collections.abc import Mapping
from pathlib import Path

from lakes import Lakes, choose_history
from output import Output
from pyspark.sql import DataFrame, SparkSession
from queries import Queries

# Those that give the same rows as pricelake query --analysis (test/interop/try_analyses.py).
ANALYSES = (
    "assortment", "assortment_gaps", "attribute_coverage", "changes_by_day", "cheapest_days", "daily_spreads", "dispersion",
    "find_products", "offer_prices", "offers", "price_leaders", "price_spread", "prior_price", "shop_index_by_category",
    "shop_overlap", "spread_by_category", "spread_by_day", "spread_histogram", "spread_summary", "widest_spreads",
)  # fmt: skip
TABLES = ("items", "products", "product_prices", "offers", "price_spread", "price_spread_daily", "matches", "sites", "sources",
          "shop_currencies", "offer_rules", "user_matches")  # fmt: skip
DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Analyses:
    """Analyses of the versions of the lakes that the last job read."""

    def __init__(self, spark: SparkSession, output: Output, pipelines: Path):
        state = output.read_state()
        if state is None:
            raise SystemExit(f"{output.address} has no tables of a whole job: run the job with --lake first")
        self.output = output
        self.work = f"{output.address}/_analyses/{output.run_id}"
        self.lakes = Lakes(spark, state["lakes"], state["lakes"])
        self.queries = Queries(spark, pipelines, self.work, {})

    def run(self, name: str, values: Mapping[str, str]) -> DataFrame:
        """The rows of an analysis. Values of its variables are those of pricelake query --set."""
        self.queries.values = {key: f"DATE '{text}'" if DAY.fullmatch(text) else quote(text) for key, text in values.items()}
        tables = {table: self.output.read(table) for table in TABLES if self.output.exists(table)}
        tables["history"] = choose_history(self.queries, self.lakes.numbered("history"))
        if "price_spells" in self.queries.read_text(f"analysis/{name}.sql"):
            tables["price_spells"] = self.queries.run("analysis/price_spells.sql", tables)
        return self.queries.run(f"analysis/{name}.sql", tables)

    def write(self, name: str, values: Mapping[str, str]) -> str:
        """Writes the rows to a Parquet file, in their order. Returns the address of its folder."""
        path = f"{self.output.address}/analyses/{name}"
        self.run(name, values).coalesce(1).write.mode("overwrite").parquet(path)
        self.output.remove(self.work)
        return path


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
