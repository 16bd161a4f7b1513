"""pricelake under Airflow 2.6 or newer: the lake is synced every 15 minutes and verified once a week.

Put this file into the folder of DAGs. pricelake is installed on the worker (npm install --global), the worker's
environment holds PRICELAKE_BASE_URL and PRICELAKE_API_KEY, and lake.path of the pipeline file is absolute. The last line
of stdout is one JSON object, which goes to XCom.
"""

from datetime import datetime, timedelta

from airflow import DAG

try:
    from airflow.providers.standard.operators.bash import BashOperator
except ImportError:  # Airflow 2
    from airflow.operators.bash import BashOperator

PIPELINE = "/etc/pricelake/prices.yaml"
LAKE = "/data/lake"

with DAG(
    dag_id="pricelake",
    schedule="*/15 * * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # One run writes; a second one would only exit with 6.
    max_active_runs=1,
):
    BashOperator(
        task_id="sync",
        bash_command=f"pricelake sync {PIPELINE} --deadline 14m --json",
        do_xcom_push=True,
        append_env=True,
        # 6: another run holds the lake. 75, a passing fault or the deadline, is tried again.
        skip_on_exit_code=6,
        retries=3,
        retry_delay=timedelta(minutes=1),
    )

with DAG(
    dag_id="pricelake_verify",
    schedule="30 4 * * 0",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    BashOperator(
        task_id="verify",
        bash_command=f"pricelake verify --lake {LAKE} --json",
        do_xcom_push=True,
        retries=0,
    )
