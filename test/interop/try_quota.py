"""Proves with Airflow's own scheduler, in this virtual environment, that a lake out of quota stops no other lake: two runs of
the DAG follow each other, the spent lake is skipped in both, and the other one is synced in both.

    try_quota.py FOLDER
"""

import sys
from pathlib import Path

from airflow_server import airflow, install, prepare, read_run, read_tasks, serve, wait_for

folder = Path(sys.argv[1]).resolve()
prepare(folder, "airflow_dag.py", {"PRICELAKE_PIPELINES": "/etc/pricelake/spent.yaml:/etc/pricelake/rich.yaml"})
install(
    folder,
    """#!/bin/sh
case "$2" in
  *spent*) echo '{"ok":false,"error":{"code":"quota","message":"used up","next_run_at":"2999-01-01T00:00:00.000Z"}}'; exit 5 ;;
  *) echo '{"ok":true}' ;;
esac
""",
)
with serve(folder, "pricelake"):
    for run in ("first", "second"):
        airflow("dags", "trigger", "pricelake", "--run-id", run)
        wait_for(f"the end of {run}", lambda: read_run(folder, "pricelake", run) == "success")
        states = read_tasks(folder, "pricelake", run)
        assert states == ["skipped", "success"], f"{run}: {states}"
        print(f"{run} run: the spent lake is skipped, the other one is synced")
