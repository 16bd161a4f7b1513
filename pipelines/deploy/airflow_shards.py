"""pricelake under Airflow 2.10 or 3: each shard of one pipeline file is a mapped task, every 15 minutes.

Put this file into the folder of DAGs, and set up the worker as airflow_dag.py says. PRICELAKE_PIPELINE names the file, and
PRICELAKE_SHARDS its shards, separated by colons. The shards run side by side, on any workers that keep their lakes, and each
is tried again by itself. One that is out of quota, or that another run holds, is skipped until the next time. None stops
another one, nor the next run.
"""

import json
import os
import subprocess
from datetime import datetime, timedelta, timezone

try:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:  # Airflow 2
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException

try:
    from airflow.sdk import dag, task
except ImportError:  # Airflow 2
    from airflow.decorators import dag, task

PIPELINE = os.environ.get("PRICELAKE_PIPELINE", "/etc/pricelake/prices.yaml")
SHARDS = os.environ.get("PRICELAKE_SHARDS", "").split(":")
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
# Another run is using the lake; the quota is used up.
SKIPPED = (5, 6)
# A person must act.
FAILED = (2, 3, 4)


def run_sync(shard: str) -> dict:
    """Syncs a shard and returns its JSON. A task that is stopped passes the SIGTERM on, so that the run ends cleanly."""
    command = ["pricelake", "sync", PIPELINE, "--dataset", shard, "--deadline", "14m", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        process.terminate()
        process.wait(timeout=120)
        raise
    lines = output.strip().splitlines()
    answer = json.loads(lines[-1]) if lines else {}
    code = process.returncode
    if code == 0:
        return answer
    message = f"exit {code}: {answer.get('error', {}).get('message', 'no message')}"
    raise (AirflowSkipException if code in SKIPPED else AirflowFailException if code in FAILED else AirflowException)(message)


# While a shard is retried, its DAG run stays open, and the next DAG runs sync the other shards. Two runs never write the
# same lake, because the second one exits with 6.
@dag(dag_id="pricelake_shards", schedule="*/15 * * * *", start_date=START, catchup=False, max_active_runs=4)
def sync_shards():
    @task(retries=3, retry_delay=timedelta(minutes=1))
    def sync(shard: str) -> dict:
        return run_sync(shard)

    sync.expand(shard=SHARDS)


sync_shards()
