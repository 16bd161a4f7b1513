"""pricelake under Dagster: dagster dev -f dagster_assets.py

One asset for each pipeline, synced every 15 minutes. Install pricelake beside Dagster (npm install --global), and set
PRICELAKE_BASE_URL, PRICELAKE_API_KEY and, separated by colons, PRICELAKE_PIPELINES in the environment.

Exit codes: 75, a passing fault, is tried again; 6, another run has locked the lake, leaves the asset as it is; all others
fail at once: 5 with the time from which the next run makes sense, 7 (of watch, if you run it the same way) because a
shop is below a price that you allow.
"""

import json
import os
import subprocess
from pathlib import Path

import dagster as dg

PIPELINES = os.environ.get("PRICELAKE_PIPELINES", "/etc/pricelake/prices.yaml").split(":")


def make_asset(pipeline: str) -> dg.AssetsDefinition:
    @dg.asset(name=Path(pipeline).stem, group_name="pricelake", output_required=False)
    def lake(context: dg.AssetExecutionContext):
        done = subprocess.run(
            ["pricelake", "sync", pipeline, "--deadline", "14m", "--json"], stdout=subprocess.PIPE, text=True
        )
        lines = done.stdout.strip().splitlines()
        answer = json.loads(lines[-1]) if lines else {}
        if done.returncode == 0:
            names = ("run_id", "items", "received", "written", "rejected", "calls")
            yield dg.Output(None, metadata={name: answer[name] for name in names if answer.get(name) is not None})
            return
        error = answer.get("error", {})
        message = f"exit {done.returncode}: {error.get('message', 'no message')}"
        if done.returncode == 6:
            context.log.info(message)
        elif done.returncode == 75:
            raise dg.RetryRequested(max_retries=3, seconds_to_wait=60) from Exception(message)
        else:
            facts = {"next run": error["next_run_at"]} if error.get("next_run_at") else {}
            raise dg.Failure(message, metadata=facts, allow_retries=False)

    return lake


assets = [make_asset(pipeline) for pipeline in PIPELINES]
job = dg.define_asset_job("pricelake_sync", selection=assets)
defs = dg.Definitions(
    assets=assets, jobs=[job], schedules=[dg.ScheduleDefinition(job=job, cron_schedule="*/15 * * * *")]
)
