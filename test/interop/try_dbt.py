"""Runs dbt with dbt-duckdb over the source that `pricelake schema --format dbt` wrote: its tests, its freshness, and a model.

usage: try_dbt.py <folder of write-deliveries.ts> <folder for the project>
"""

import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from noting import note

PROJECT = "name: prices\nversion: '1.0.0'\nprofile: prices\nmodel-paths: [models]\n"
PROFILE = "prices:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: ':memory:', plugins: [{module: delta}]}\n"
MODEL = "SELECT product_id, currency, spread_pct FROM {{ source('pricelake', 'price_spread') }} WHERE grade = 'A'\n"


def run_dbt(project: Path, *arguments: str) -> list[dict]:
    """The results of a command; a test or a model that fails ends it with an exit code."""
    subprocess.run(
        ["dbt", *arguments, "--profiles-dir", ".", "--target-path", "target"],
        cwd=project, check=True,
    )
    name = "sources.json" if arguments[0] == "source" else "run_results.json"
    return json.loads((project / "target" / name).read_text())["results"]


written, project = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(project, ignore_errors=True)
(project / "models").mkdir(parents=True)
(project / "dbt_project.yml").write_text(PROJECT + "flags:\n  send_anonymous_usage_stats: false\n")
(project / "profiles.yml").write_text(PROFILE)
(project / "models" / "sure_spreads.sql").write_text(MODEL)
shutil.copy(written / "sources.yml", project / "models")
results = run_dbt(project, "build")
tests = [one for one in results if one["unique_id"].startswith("test.")]
assert len(tests) > 150 and all(one["status"] in ("pass", "success") for one in results), results
[fresh] = run_dbt(project, "source", "freshness")
assert fresh["status"] == "pass", fresh
tool = f"{version('dbt-core')}, dbt-duckdb {version('dbt-duckdb')}"
note("dbt", tool, "source with all tables", f"{len(tests)} tests passed, {fresh['unique_id'].split('.')[-1]} fresh, a model read")
