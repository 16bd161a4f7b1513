"""pricelake under Prefect 3: python prefect_flow.py serves it, and runs it every 15 minutes.

Each pipeline is a task. Install pricelake beside Prefect (npm install --global), and set PRICELAKE_BASE_URL,
PRICELAKE_API_KEY and, separated by colons, PRICELAKE_PIPELINES in the environment.

Exit codes: 75, a passing fault, is tried again; 6, another run has locked the lake, ends as skipped; all others fail at once:
5 with the time from which the next run makes sense, 7 (of watch, if you run it the same way) because a shop is below a
price that you allow.
"""

import json
import os
import subprocess

from prefect import flow, task
from prefect.states import Completed

PIPELINES = os.environ.get("PRICELAKE_PIPELINES", "/etc/pricelake/prices.yaml").split(":")


class Refused(Exception):
    """A run that a retry would not help."""


class Passing(Exception):
    """A run that may succeed in a minute."""


def is_passing(_task, _run, state) -> bool:
    return isinstance(state.result(raise_on_failure=False), Passing)


@task(retries=3, retry_delay_seconds=60, retry_condition_fn=is_passing, task_run_name="sync {pipeline}")
def sync(pipeline: str):
    done = subprocess.run(
        ["pricelake", "sync", pipeline, "--deadline", "14m", "--json"], stdout=subprocess.PIPE, text=True
    )
    lines = done.stdout.strip().splitlines()
    answer = json.loads(lines[-1]) if lines else {}
    if done.returncode == 0:
        return answer
    error = answer.get("error", {})
    message = f"exit {done.returncode}: {error.get('message', 'no message')}"
    if done.returncode == 6:
        return Completed(name="Skipped", message=message)
    if done.returncode == 75:
        raise Passing(message)
    later = f"; next run {error['next_run_at']}" if error.get("next_run_at") else ""
    raise Refused(message + later)


@flow(name="pricelake")
def sync_lakes(pipelines: list[str] = PIPELINES):
    futures = [sync.submit(pipeline) for pipeline in pipelines]
    # One failing lake does not stop the others.
    return [future.wait() or future.state for future in futures]


if __name__ == "__main__":
    sync_lakes.serve(name="pricelake", cron="*/15 * * * *")
