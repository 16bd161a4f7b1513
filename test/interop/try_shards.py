"""Proves with Airflow's own scheduler, in this virtual environment, that no shard of a pipeline file stops another one. The
real pricelake syncs shards of a sandbox: two have enough of everything, one is out of quota, one names a dataset that is not
there, and one fails for a while. Of two runs of the DAG, the second begins before the first one has ended.

    try_shards.py FOLDER
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from airflow_server import airflow, install, prepare, read_run, read_tasks, serve, wait_for
from noting import note

MAIN = Path(__file__).resolve().parent.parent.parent / "dist" / "cli" / "main.js"
DAG = "pricelake_shards"
folder = Path(sys.argv[1]).resolve()
pipeline = folder / "prices.yaml"
# Two calls are not enough for a first copy.
SHARDS = {
    "electronics": "{datasets: [11]}",
    "europe": "{datasets: [26]}",
    "spent": "{datasets: [14], budget: 1%}",
    "unknown": "{datasets: [999999]}",
    "failing": "{datasets: [17]}",
}
RICH = ("electronics", "europe")
prepare(folder, "airflow_shards.py", {"PRICELAKE_PIPELINE": str(pipeline), "PRICELAKE_SHARDS": ":".join(SHARDS)})
dag = folder / "dags" / "airflow_shards.py"
scheduled = 'schedule="*/15 * * * *"'
assert scheduled in dag.read_text()
# Only runs that are triggered here count.
dag.write_text(dag.read_text().replace(scheduled, "schedule=None"))
install(
    folder,
    f"""#!/bin/sh
case "$*" in
  *failing*) echo '{{"ok":false,"error":{{"code":"unavailable","message":"not reached"}}}}'; exit 75 ;;
esac
exec node {MAIN} "$@"
""",
)


def pricelake(*args: str) -> dict:
    lines = subprocess.run(["pricelake", *args, "--json"], capture_output=True, text=True).stdout.splitlines()
    return json.loads(lines[-1])


def count_runs(shard: str) -> int:
    rows = pricelake("query", "--lake", str(folder / "lake" / shard), "SELECT count(*) AS runs FROM runs")["rows"]
    return rows[0]["runs"]


def trigger(run: str) -> None:
    airflow("dags", "trigger", DAG, "--run-id", run)


def wait_for_shards(run: str, wanted: dict[str, tuple[str, ...]]) -> None:
    def are_there() -> bool:
        states = dict(zip(SHARDS, read_tasks(folder, DAG, run)))
        return all(states.get(shard) in known for shard, known in wanted.items())

    wait_for(f"{wanted} in {run}: {read_tasks(folder, DAG, run)}", are_there)


OTHERS = {**dict.fromkeys(RICH, ("success",)), "spent": ("skipped",), "unknown": ("failed",)}
sandbox = subprocess.Popen(
    ["node", MAIN, "sandbox", "--items", "300", "--sites", "6", "--port", "0", "--rate", "0", "--json"],
    stdout=subprocess.PIPE,
    text=True,
)
try:
    service = json.loads(sandbox.stdout.readline())
    os.environ["PRICELAKE_TEST_KEY"] = service["keys"]["live"]
    shards = ", ".join(f"{name}: {shard}" for name, shard in SHARDS.items())
    pipeline.write_text(
        f"source: {{baseUrl: '{service['base_url']}', apiKey: '${{PRICELAKE_TEST_KEY}}', shards: {{{shards}}}}}\n"
        f"lake: {{path: '{folder / 'lake'}'}}\nbudget: {{calls: 200}}\n"
    )
    with serve(folder, DAG):
        trigger("first")
        wait_for_shards("first", {**OTHERS, "failing": ("up_for_retry",)})
        pricelake("sandbox", "advance", "--url", service["base_url"], "--hours", "5", "--changes", "60")
        trigger("second")
        wait_for_shards("second", OTHERS)
        assert read_run(folder, DAG, "first") == "running", "the first run has ended before the second one synced"
        runs = [count_runs(shard) for shard in RICH]
        assert runs == [2, 2], f"runs of {RICH}: {runs}"
        wait_for("the end of both runs", lambda: {read_run(folder, DAG, run) for run in ("first", "second")} == {"failed"})
        for run in ("first", "second"):
            states = dict(zip(SHARDS, read_tasks(folder, DAG, run)))
            wanted = {**dict.fromkeys(RICH, "success"), "spent": "skipped", "unknown": "failed", "failing": "failed"}
            assert states == wanted, f"{run}: {states}"
    note("airflow", version("apache-airflow"), "shards: one out of quota, one unknown, one failing", "skipped, failed, failed; two synced in both runs")
finally:
    sandbox.terminate()
    sandbox.wait(60)
