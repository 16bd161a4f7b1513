"""pricelake under Airflow 2.10 or 3: each pipeline is synced every 15 minutes, and its lake verified once a week.

Put this file into the folder of DAGs. Install pricelake on the worker (npm install --global), set PRICELAKE_BASE_URL and
PRICELAKE_API_KEY in its environment, and make lake.path of each pipeline file absolute. PRICELAKE_PIPELINES names the
files, separated by colons; each one is a mapped task of its own. The JSON of a run goes to XCom. To schedule other DAGs
on the lake, use its asset:

    @dag(schedule=[Asset("pricelake://lakes")])

Exit codes: 2, 3 and 4 fail at once, because a person must act; 5 is skipped until the quota is renewed, so that other
lakes go on; 6, another run holds the lake, is skipped; 7, a shop is below a price that you allow (a task of
run_pricelake("watch", ...)), fails at once; 75, a passing fault, and all others are tried again.
"""

import json
import os
import subprocess
from datetime import datetime, timedelta, timezone

try:
    from airflow.sdk import Asset, dag, task
except ImportError:  # Airflow 2
    from airflow.datasets import Dataset as Asset
    from airflow.decorators import dag, task

try:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:  # Airflow before 3.2
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException

PIPELINES = os.environ.get("PRICELAKE_PIPELINES", "/etc/pricelake/prices.yaml").split(":")
LAKES = Asset("pricelake://lakes")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def run_pricelake(*args: str) -> dict:
    """Runs a command and returns its JSON. A task that is stopped passes the SIGTERM on, so that the run ends cleanly."""
    process = subprocess.Popen(["pricelake", *args, "--json"], stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        process.terminate()
        process.wait(timeout=120)
        raise
    lines = output.strip().splitlines()
    answer = json.loads(lines[-1]) if lines else {}
    if process.returncode != 0:
        raise explain(process.returncode, answer.get("error", {}))
    return answer


def explain(code: int, error: dict) -> AirflowException:
    message = f"exit {code}: {error.get('message', 'no message')}"
    # A task that waits would keep its DAG run open, and no lake would be synced until the quota is renewed.
    if code == 6 or (code == 5 and error.get("next_run_at")):
        return AirflowSkipException(message)
    if code in (2, 3, 4, 5, 7):
        return AirflowFailException(message)
    return AirflowException(message)


# While a pipeline is retried, its DAG run stays open, and the next DAG runs sync the other pipelines. Two runs never write
# the same lake, because the second one exits with 6.
@dag(dag_id="pricelake", schedule="*/15 * * * *", start_date=START, catchup=False, max_active_runs=4)
def sync_lakes():
    @task(retries=3, retry_delay=timedelta(minutes=1), outlets=[LAKES])
    def sync(pipeline: str) -> dict:
        return run_pricelake("sync", pipeline, "--deadline", "14m")

    sync.expand(pipeline=PIPELINES)


@dag(dag_id="pricelake_verify", schedule="30 4 * * 0", start_date=START, catchup=False, max_active_runs=1)
def verify_lakes():
    @task(retries=0)
    def verify(pipeline: str) -> dict:
        return run_pricelake("verify", pipeline)

    verify.expand(pipeline=PIPELINES)


sync_lakes()
verify_lakes()
