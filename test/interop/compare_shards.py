"""
Compares the tables that pipelines/spark/job.py wrote with those of one lake of all datasets, row by row, with delta-rs and
DuckDB: compare_shards.py <output> <lake> <table>…. Ids of runs differ, and times of reads by seconds.
"""

import sys

import duckdb
from deltalake import DeltaTable

output, lake, *tables = sys.argv[1:]
# Columns that tell when which lake read something.
OWN = {
    "items": ["run_id", "read_at", "change_id", "last_seen_at", "datasets"],
    "sites": ["run_id", "valid_from", "valid_to"],
    "sources": ["run_id", "read_at", "read_by", "clock_at", "last_seen_at"],
}

failed = False
for table in tables:
    sides = {}
    for side, folder in (("made", output), ("wanted", lake)):
        rows = DeltaTable(f"{folder}/{table}").to_pyarrow_dataset()
        sides[side] = rows
        duckdb.register(side, rows)
    own = ", ".join(OWN.get(table, ["run_id"]))
    columns = [name for name in sides["wanted"].schema.names if name not in own.split(", ")]
    if missing := set(columns) - set(sides["made"].schema.names):
        print(f"{table}: lacks {', '.join(sorted(missing))}")
        failed = True
        continue
    names = ", ".join(f'"{name}"' for name in columns)
    count = duckdb.sql("SELECT count(*) FROM wanted").fetchall()[0][0]
    differences = duckdb.sql(f"""
        SELECT 'made' AS side, * FROM (SELECT {names} FROM made EXCEPT ALL SELECT {names} FROM wanted)
        UNION ALL SELECT 'wanted', * FROM (SELECT {names} FROM wanted EXCEPT ALL SELECT {names} FROM made)""").fetchall()
    print(f"{table}: {count} rows, {len(differences)} differ")
    for row in differences[:6]:
        print("  ", row)
    failed = failed or len(differences) > 0
sys.exit(failed)
