"""
Runs every analysis on Spark over the tables that pipelines/spark/job.py wrote, and as pricelake query --analysis over one
lake of all datasets: spark-submit try_analyses.py <output> <lake> <python with DuckDB>. The analyses whose rows are equal
must be those that analyses.py names. Doubles may differ in their last digits, with the order in which they are added.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "pipelines" / "spark"))

from analyses import ANALYSES, Analyses  # noqa: E402
from job import SETTINGS  # noqa: E402
from output import Output  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

output, lake, python = sys.argv[1:]
COMPARE = """
import duckdb, sys
made, wanted = (f"SELECT * FROM read_parquet('{one}')" for one in sys.argv[1:])
types = duckdb.sql(f"DESCRIBE {wanted}").fetchall()
columns = ", ".join(f'round("{n}", 9) AS "{n}"' if t == "DOUBLE" else f'"{n}"' for n, t, *_ in types)
made, wanted = f"SELECT {columns} FROM ({made})", f"SELECT {columns} FROM ({wanted})"
rows = duckdb.sql(f"({made} EXCEPT ALL {wanted}) UNION ALL ({wanted} EXCEPT ALL {made})").fetchall()
print(duckdb.sql(f"SELECT count(*) FROM ({wanted})").fetchall()[0][0], "rows,", len(rows), "differ", *rows[:2])
sys.exit(len(rows) > 0)
"""


def pricelake(*arguments: str) -> str:
    command = ["node", str(TOP / "dist" / "cli" / "main.js"), "query", "--lake", lake, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    days = "SELECT min(product_id) AS product, max(day)::VARCHAR AS last, (max(day) - 2)::VARCHAR AS first FROM price_spread_daily"
    product, last, first = json.loads(pricelake(days, "--json"))["rows"][0].values()
    values = {name: {"product": product} for name in ("offers", "product_changes", "product_spells")} | {
        "assortment_gaps": {"own_site": "12"},
        "offer_prices": {"first_day": first, "last_day": last},
        "product_offers": {"product_ids": f"[{product}]", "currencies": "[EUR, PLN]"},
    }
    spark = SparkSession.builder.getOrCreate()
    for name, value in (SETTINGS | {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}).items():
        spark.conf.set(name, value)
    analyses = Analyses(spark, Output(spark, output, f"test-{time.time_ns()}"), TOP / "pipelines")
    equal = set()
    for path in sorted((TOP / "pipelines" / "analysis").glob("*.sql")):
        name, given = path.stem, values.get(path.stem, {})
        if path.read_text("utf-8").startswith("-- part of: "):
            continue
        try:
            made = analyses.write(name, given)
            wanted = f"{output}/{name}.parquet"
            pricelake("--analysis", name, "--format", "parquet", "--output", wanted, *(word for one in given.items() for word in ("--set", "=".join(one))))
            done = subprocess.run([python, "-c", COMPARE, f"{made}/*.parquet", wanted], capture_output=True, text=True)
            print(name, (done.stdout or done.stderr).strip().splitlines()[-1][:400], flush=True)
            if done.returncode == 0:
                equal.add(name)
        except Exception as error:  # noqa: BLE001
            text = str(getattr(error, "stderr", "") or error)
            print(name, "does not run:", (re.search(r"\[[A-Z_]{5}.*", text) or [text])[0][:300], flush=True)
    print(len(equal), "are equal:", ", ".join(sorted(equal)))
    if equal != set(ANALYSES):
        sys.exit(f"analyses.py names others: {', '.join(sorted(equal ^ set(ANALYSES)))}")


main()
