"""Runs the examples of pipelines/deploy by the real tool in this virtual environment: airflow, dagster or prefect. A stub
stands for pricelake and ends with the exit codes that are asked for.

    try_schedulers.py airflow|dagster|prefect FOLDER
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from noting import note

HERE = Path(__file__).resolve().parent
DEPLOY = HERE.parent.parent / "pipelines" / "deploy"
tool, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
(folder / "bin").mkdir(exist_ok=True)
shutil.copy(HERE / "stub-pricelake.sh", folder / "bin" / "pricelake")
codes, log = folder / "codes", folder / "log"
os.environ |= {
    "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    "STUB_CODES": str(codes),
    "STUB_LOG": str(log),
    "PRICELAKE_PIPELINES": "/etc/pricelake/a.yaml:/etc/pricelake/b.yaml",
}


def stub(*exits: int) -> None:
    codes.write_text("".join(f"{code}\n" for code in exits))
    log.write_text("")


def calls() -> int:
    return len(log.read_text().splitlines())


def listed(values) -> str:
    return ", ".join(map(str, values)) if isinstance(values, (list, tuple)) else str(values)


def expect(what: str, found, wanted, say=listed) -> None:
    assert found == wanted, f"{tool}: {what}: {found}, not {wanted}"
    note(tool, version("apache-airflow" if tool == "airflow" else tool), what, say(found))


def try_airflow() -> None:
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    (home / "dags").mkdir(parents=True)
    shutil.copy(DEPLOY / "airflow_dag.py", home / "dags")
    os.environ |= {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    airflow = lambda *args: subprocess.run(["airflow", *args], capture_output=True, text=True)  # noqa: E731
    airflow("db", "migrate")
    # One pipeline of two ends with the code, whichever runs first.
    cases = {(0, 0): ["success", "success"], (3, 0): ["failed", "success"], (6, 0): ["skipped", "success"],
             (5, 0): ["skipped", "success"]}
    for day, (exits, wanted) in enumerate(cases.items(), 1):
        stub(*exits)
        airflow("dags", "test", "pricelake", f"2026-02-0{day}T00:00:00+00:00")
        with sqlite3.connect(home / "airflow.db") as db:
            states = db.execute("""SELECT state FROM task_instance WHERE dag_id = 'pricelake' AND run_id =
                (SELECT run_id FROM dag_run WHERE dag_id = 'pricelake' ORDER BY id DESC LIMIT 1) ORDER BY map_index""")
            expect(f"exit codes {listed(exits)}", sorted(state for (state,) in states), sorted(wanted))
        expect(f"calls of exit codes {listed(exits)}", calls(), len(exits))
    explain = """import runpy
m = runpy.run_path(__import__("sys").argv[1])
print(*[type(m["explain"](code, {})).__name__ for code in (1, 2, 3, 4, 5, 6, 7, 75, 143)])"""
    names = subprocess.run([sys.executable, "-c", explain, str(DEPLOY / "airflow_dag.py")], capture_output=True, text=True)
    fails = ["AirflowFailException"] * 4
    again = ["AirflowException"] * 2
    wanted = ["AirflowException", *fails, "AirflowSkipException", "AirflowFailException", *again]
    expect("exceptions of exit codes 1, 2, 3, 4, 5, 6, 7, 75, 143", names.stdout.split()[-9:], wanted)


def try_dagster() -> None:
    sys.path.insert(0, str(DEPLOY))
    import dagster
    import dagster_assets

    for exits, wanted in {(0, 0): True, (3, 0): False, (6, 0): True, (5, 0): False, (7, 0): False}.items():
        stub(*exits)
        result = dagster_assets.defs.resolve_job_def("pricelake_sync").execute_in_process(raise_on_error=False)
        say = lambda found: f"{'success' if found[0] else 'failure'}, {found[1]} calls"  # noqa: E731
        expect(f"exit codes {listed(exits)}", (result.success, calls()), (wanted, 2), say)
    stub(75, 0, 0)
    result = dagster.materialize([dagster_assets.assets[0]], raise_on_error=False)
    retried = [event for event in result.all_events if event.event_type_value == "STEP_UP_FOR_RETRY"]
    expect("75 is retried", (len(retried), result.success), (1, True), lambda found: f"{found[0]} retry, then success")


def try_prefect() -> None:
    os.environ |= {"PREFECT_HOME": str(folder / "prefect"), "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120"}
    sys.path.insert(0, str(DEPLOY))
    import prefect
    import prefect_flow

    sync = prefect_flow.sync.with_options(retry_delay_seconds=0)
    prefect_flow.sync_lakes.fn.__globals__["sync"] = sync
    cases = {(0, 0): (["Completed"] * 2, 2), (3, 0): (["Failed", "Completed"], 2), (6, 0): (["Skipped", "Completed"], 2),
             (5, 0): (["Failed", "Completed"], 2), (7, 0): (["Failed", "Completed"], 2)}
    for exits, (wanted, number) in cases.items():
        stub(*exits)
        prefect_flow.sync_lakes.with_options(retries=0)(return_state=True)
        expect(f"calls of exit codes {listed(exits)}", calls(), number)

        @prefect.flow
        def one():
            stub(exits[0])
            return sync("/etc/pricelake/a.yaml", return_state=True).name

        expect(f"exit code {exits[0]}", one(), wanted[0])

    @prefect.flow
    def again():
        stub(75, 75, 0)
        return sync("/etc/pricelake/a.yaml", return_state=True).name, calls()

    expect("75 is retried", again(), ("Completed", 3), lambda found: f"{found[0]} after {found[1]} calls")


{"airflow": try_airflow, "dagster": try_dagster, "prefect": try_prefect}[tool]()
