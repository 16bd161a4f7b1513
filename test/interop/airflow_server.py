"""Airflow's own scheduler in this virtual environment, with the DAGs of a folder: what the scripts beside it share."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent.parent / "pipelines" / "deploy"
WAIT_SECONDS = 900


def prepare(folder: Path, dag: str, environment: dict[str, str]) -> None:
    """Empties the folder, copies the file of the DAG into it, and finds a command `pricelake` in its `bin` first."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "dags").mkdir()
    shutil.copy(DEPLOY / dag, folder / "dags")
    os.environ |= {
        "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__API__PORT": "18793",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": "http://127.0.0.1:18793/execution/",
        **environment,
    }


def install(folder: Path, script: str) -> None:
    pricelake = folder / "bin" / "pricelake"
    pricelake.write_text(script)
    pricelake.chmod(0o755)


def airflow(*args: str) -> str:
    return subprocess.run(["airflow", *args], capture_output=True, text=True).stdout


def ask(folder: Path, sql: str, *values: str) -> list[tuple]:
    """Rows of Airflow's database; none before it has tables."""
    try:
        with sqlite3.connect(f"file:{folder / 'airflow.db'}?mode=ro", uri=True, timeout=60) as db:
            return db.execute(sql, values).fetchall()
    except sqlite3.OperationalError:
        return []


def wait_for(what: str, find):
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if found := find():
            return found
        time.sleep(2)
    raise SystemExit(f"not within {WAIT_SECONDS} seconds: {what}")


def read_run(folder: Path, dag: str, run: str) -> str | None:
    rows = ask(folder, "SELECT state FROM dag_run WHERE dag_id = ? AND run_id = ?", dag, run)
    return rows[0][0] if rows else None


def read_tasks(folder: Path, dag: str, run: str) -> list[str | None]:
    """States of the mapped tasks of a run, in their order; none before the scheduler has made them."""
    sql = "SELECT state FROM task_instance WHERE dag_id = ? AND run_id = ? AND map_index >= 0 ORDER BY map_index"
    return [state for (state,) in ask(folder, sql, dag, run)]


@contextmanager
def serve(folder: Path, dag: str):
    """The scheduler with everything that it needs, until the block ends. The DAG is not paused, and has no run yet."""
    with open(folder / "standalone.log", "w") as log:
        server = subprocess.Popen(["airflow", "standalone"], stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(f"DAG {dag}", lambda: ask(folder, "SELECT 1 FROM dag WHERE dag_id = ?", dag))
        airflow("dags", "unpause", dag)
        yield
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)
