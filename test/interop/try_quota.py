"""Proves with Airflow's own scheduler, in this virtual environment, that a lake out of quota stops no other lake: two runs of
the DAG follow each other, the spent lake is skipped in both, and the other one is synced in both.

    try_quota.py FOLDER
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent.parent / "pipelines" / "deploy"
WAIT_SECONDS = 300
folder = Path(sys.argv[1]).resolve()
shutil.rmtree(folder, ignore_errors=True)
(folder / "bin").mkdir(parents=True)
(folder / "dags").mkdir()
shutil.copy(DEPLOY / "airflow_dag.py", folder / "dags")
pricelake = folder / "bin" / "pricelake"
pricelake.write_text("""#!/bin/sh
case "$2" in
  *spent*) echo '{"ok":false,"error":{"code":"quota","message":"used up","nextRunAt":"2999-01-01T00:00:00.000Z"}}'; exit 5 ;;
  *) echo '{"ok":true}' ;;
esac
""")
pricelake.chmod(0o755)
os.environ |= {
    "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    "PRICELAKE_PIPELINES": "/etc/pricelake/spent.yaml:/etc/pricelake/rich.yaml",
    "AIRFLOW_HOME": str(folder),
    "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__API__PORT": "18793",
    "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": "http://127.0.0.1:18793/execution/",
}


def airflow(*args: str) -> str:
    return subprocess.run(["airflow", *args], capture_output=True, text=True).stdout


def read_json(*args: str) -> list[dict]:
    lines = airflow(*args, "--output", "json").splitlines()
    return json.loads(next((line for line in reversed(lines) if line.startswith("[")), "[]"))


def wait_for(what: str, find):
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if found := find():
            return found
        time.sleep(5)
    raise SystemExit(f"not within {WAIT_SECONDS} seconds: {what}")


def run_once(run: str) -> list[str]:
    airflow("dags", "trigger", "pricelake", "--run-id", run)
    wait_for(
        f"the end of {run}",
        lambda: [one for one in read_json("dags", "list-runs", "pricelake") if one["run_id"] == run and one["state"] == "success"],
    )
    return sorted(one["state"] for one in read_json("tasks", "states-for-dag-run", "pricelake", run))


with open(folder / "standalone.log", "w") as log:
    server = subprocess.Popen(["airflow", "standalone"], stdout=log, stderr=log, start_new_session=True)
try:
    wait_for("the DAG", lambda: any(one["dag_id"] == "pricelake" for one in read_json("dags", "list")))
    airflow("dags", "unpause", "pricelake")
    for run in ("first", "second"):
        states = run_once(run)
        assert states == ["skipped", "success"], f"{run}: {states}"
        print(f"{run} run: the spent lake is skipped, the other one is synced")
finally:
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(60)
