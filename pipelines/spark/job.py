"""
Answers one question over all shards: reads the Delta tables of several lakes, and writes the derived tables of all of them
as Delta tables (docs/engineer/spark.md). Rows are made by the same SQL that pricelake runs.

    spark-submit --packages io.delta:delta-spark_2.12:3.3.2 pipelines/spark/job.py --lake A --lake B --output DIR
"""

import argparse
import json
import sys
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from analyses import ANALYSES, Analyses  # noqa: E402
from lakes import ROW_COLUMNS, Lakes, choose_history, union  # noqa: E402
from output import Output  # noqa: E402
from pyspark.sql import DataFrame, SparkSession, functions as f  # noqa: E402
from queries import Queries  # noqa: E402

DAILY = "price_spread_daily"
SETTINGS = {
    # As in DuckDB, a value that does not fit is an error.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # The logs of these tables are short, and Delta would replay each in 50 tasks.
    "spark.databricks.delta.snapshotPartitions": "2",
}


class Job:
    def __init__(self, spark: SparkSession, lakes: Lakes, output: Output, pipelines: Path):
        self.spark = spark
        self.lakes = lakes
        self.output = output
        self.work = f"{output.address}/_work"
        # Products of which jobs that were stopped may have written rows.
        self.pending = f"{output.address}/_pending"
        self.queries = Queries(spark, pipelines, self.work, {"run_id": f"'{output.run_id}'"})

    def run(self) -> None:
        self.output.remove(self.work)
        state = self.output.read_state()
        found = {"lakes": self.lakes.describe(), "days": self.lakes.closed_days(), "queries": self.queries.fingerprint()}
        if state is None or state.get("queries") != found["queries"] or not is_of_same_lakes(state["lakes"], found["lakes"]):
            self.make_all()
        elif state == json.loads(json.dumps(found)):
            return
        else:
            self.make_changed(state)
        self.output.write_state(found)
        self.output.remove(self.work)
        self.output.remove(self.pending)

    def make_all(self) -> None:
        self.output.remove_state()
        self.output.overwrite("items", self.choose_items(self.lakes.numbered("items")))
        self.derive(self.output.read("items"), None, None)

    def make_changed(self, state: dict) -> None:
        """Makes the products again whose listings changed since. Items come last: what changed is seen by them."""
        stored = self.output.read("items")
        ids = self.keep("changed_ids", self.find_new_rows(stored, state["lakes"]))
        chosen = self.choose_items(self.lakes.numbered("items").join(ids, "item_id", "left_semi"))
        before = stored.join(ids, "item_id", "left_semi")
        changed = self.keep("changed_items", chosen.exceptAll(before))
        if changed.isEmpty():
            products = changed.select("product_id")
        else:
            left = before.join(changed, "item_id", "left_semi").select("product_id")
            products = changed.select("product_id").union(left).where("product_id IS NOT NULL").distinct()
        items = union([stored.join(changed, "item_id", "left_anti"), changed])
        self.derive(items, self.keep("changed_products", products), state)
        self.output.merge("items", ["item_id"], changed.withColumn("is_gone", f.lit(False)))

    def find_new_rows(self, stored: DataFrame, known: dict) -> DataFrame:
        """Ids of the items of which a file that is new since the last job has a row that the output lacks."""
        added = [lake.added_rows("items", known[lake.address]["items"]) for lake in self.lakes.all]
        rows = [one.select(*ROW_COLUMNS) for one in added if one is not None]
        if not rows:
            return stored.select("item_id").limit(0)
        return union(rows).exceptAll(stored.select(*ROW_COLUMNS)).select("item_id").distinct()

    def choose_items(self, all_items: DataFrame) -> DataFrame:
        """Each listing once."""
        left = self.queries.run("union/left_items.sql", {"all_items": all_items})
        return all_items.join(left, ["lake", "item_id"], "left_anti").drop("lake")

    def derive(self, items: DataFrame, products: DataFrame | None, known: dict | None) -> None:
        """Writes the tables that follow from items. `products` are those that changed; None is all."""
        facts = self.read_facts(items)
        scope = None if products is None else self.find_products(items, products, facts)
        changed = items if scope is None else self.keep("items", items.join(scope, "product_id", "left_semi"))
        self.output.replace("products", ["product_id"], self.queries.run("models/products.sql", {"items": changed}), scope)
        prices = self.keep("product_prices", self.queries.run("models/product_prices.sql", {"items": changed}))
        self.output.replace("product_prices", ["product_id", "currency"], prices, scope)
        named = {name: facts[name] for name in ("shop_currencies", "sources", "offer_rules")}
        offers = self.keep("offers", self.queries.run("analysis/judged_offers.sql", {"items": changed, "product_prices": prices, **named}))
        self.output.replace("offers", ["item_id"], offers, scope)
        spreads = self.queries.run("analysis/price_spread.sql", {"offers": offers, "sites": facts["sites"]})
        self.output.replace("price_spread", ["product_id", "currency"], spreads, scope)
        self.derive_days(items, facts["sites"], scope, known)
        matches = self.queries.run("models/matches.sql", {"items": items, "user_matches": facts["user_matches"]})
        self.output.replace("matches", ["product_id"], matches, None)
        for table, rows in facts.items():
            self.output.overwrite_different(table, rows)

    def read_facts(self, items: DataFrame) -> dict[str, DataFrame]:
        """The small tables that others follow from."""
        made = {
            "sites": self.queries.run("union/sites.sql", {"all_sites": self.lakes.numbered("sites")}),
            "sources": self.queries.run("union/sources.sql", {"all_sources": self.lakes.numbered("sources")}),
            "shop_currencies": self.queries.run("models/shop_currencies.sql", {"items": items}),
        }
        told = {table: self.lakes.newest(table) for table in ("offer_rules", "user_matches")}
        return {table: self.keep(table, rows) for table, rows in (made | told).items()}

    def find_products(self, items: DataFrame, products: DataFrame, facts: dict[str, DataFrame]) -> DataFrame | None:
        """
        These products, those with offers of websites and sources about which something else is known, and those that
        earlier jobs left half made; None is all.
        """
        if self.output.differs("offer_rules", facts["offer_rules"], ["rule", "site_id", "meaning", "text"]):
            self.output.remove_state()
            return None
        stale = ["site_id", "source_id", "CASE WHEN is_stale THEN last_seen_at END AS stale_since", "is_stale"]
        credit = ["site_id", "CASE WHEN is_current THEN attribution END AS attribution"]
        sources = self.output.find_different("sources", facts["sources"], stale).select("site_id", "source_id")
        sites = union([
            self.output.find_different("shop_currencies", facts["shop_currencies"], ["site_id", "currency"]).select("site_id"),
            self.output.find_different("sites", facts["sites"], credit).select("site_id"),
        ])
        named = items.where("product_id IS NOT NULL")
        others = [named.join(sources, ["site_id", "source_id"], "left_semi"), named.join(sites, "site_id", "left_semi")]
        found = union([products, *(one.select("product_id") for one in others)]).distinct()
        found.write.mode("append").parquet(self.pending)
        return self.keep("products", self.spark.read.schema(found.schema).parquet(self.pending).distinct())

    def derive_days(self, items: DataFrame, sites: DataFrame, scope: DataFrame | None, known: dict | None) -> None:
        """Adds the days that have closed since, and makes those of changed products again."""
        days = self.lakes.closed_days()
        if days is None:
            return
        first, last = days
        key = ["product_id", "currency", "day"]
        before = known.get("days") if known else None
        if scope is None or before is None or before[0] != first or not self.output.exists(DAILY):
            self.output.replace(DAILY, key, self.make_days(items, sites, first, last), None)
            return
        late = items.join(self.find_new_history(known["lakes"]), "item_id", "left_semi").select("product_id")
        touched = self.keep("touched", scope.union(late.where("product_id IS NOT NULL")).distinct())
        own = items.join(touched, "product_id", "left_semi")
        self.output.replace(DAILY, key, self.make_days(own, sites, first, last), touched)
        if last > before[1]:
            others = items.join(touched, "product_id", "left_anti")
            rows = self.make_days(others, sites, before[1] + 1, last)
            self.output.merge(DAILY, key, rows.withColumn("is_gone", f.lit(False)))

    def make_days(self, items: DataFrame, sites: DataFrame, first: int, last: int) -> DataFrame:
        listings = self.keep("day_items", items.where("product_id IS NOT NULL"))
        all_history = self.lakes.numbered("history").join(listings, "item_id", "left_semi")
        history = choose_history(self.queries, all_history)
        self.queries.values |= {"first_day": f"date_from_unix_date({first})", "last_day": f"date_from_unix_date({last})"}
        prices = self.keep("offer_prices", self.queries.run("analysis/offer_prices.sql", {"items": listings, "history": history}))
        return self.keep("days", self.queries.run(f"analysis/{DAILY}.sql", {"offer_prices": prices, "sites": sites}))

    def find_new_history(self, known: dict) -> DataFrame:
        """Ids of the items of which runs since the last job wrote history, which they may do without a change of the item."""
        found = [self.output.read("items").select("item_id").limit(0)]
        for lake in self.lakes.all:
            since = known[lake.address]
            added = lake.added_rows("history", since["history"])
            if added is not None:
                runs = lake.read("runs").where(f.col("run_number") > since["run"]).select("run_id")
                found.append(added.join(runs, "run_id", "left_semi").select("item_id"))
        return self.keep("new_history", union(found).distinct())

    def keep(self, name: str, rows: DataFrame) -> DataFrame:
        return self.queries.keep(name, rows)


def is_of_same_lakes(known: dict, found: dict) -> bool:
    """A rebuilt lake is another one."""
    return {address: one["id"] for address, one in known.items()} == {address: one["id"] for address, one in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the derived tables of several pricelake lakes as one.")
    parser.add_argument("--lake", action="append", help="address of a lake; give it once for each")
    parser.add_argument("--output", required=True, help="address of the folder of the tables to write")
    parser.add_argument("--pipelines", default=str(Path(__file__).resolve().parent.parent), help="folder with models and analysis")
    parser.add_argument("--analysis", choices=ANALYSES, help="write its rows to OUTPUT/analyses; the tables stay as they are")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the analysis")
    options = parser.parse_args()
    if (options.lake is None) == (options.analysis is None):
        parser.error("give either --lake or --analysis")
    spark = SparkSession.builder.appName("pricelake").getOrCreate()
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    run_id = datetime.now(timezone.utc).strftime("spark-%Y%m%dT%H%M%SZ")
    output, pipelines = Output(spark, options.output, run_id), Path(options.pipelines)
    if options.analysis is None:
        Job(spark, Lakes(spark, options.lake), output, pipelines).run()
    else:
        print(Analyses(spark, output, pipelines).write(options.analysis, dict(one.split("=", 1) for one in options.set)))


if __name__ == "__main__":
    main()
