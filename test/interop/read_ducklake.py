"""Registers every table of a lake in a DuckLake catalog by delta2ducklake, which copies no data, and compares the rows that DuckDB
reads by this catalog with what delta-rs reads by the log of Delta: after the increments, and again after the catalog has
followed three more runs, whose removed files are gone from the disk.

DuckDB looks for partition values in the names of folders, which Delta doesn't require and ours don't have, so it can count the
rows of partitioned tables but not read them.

usage: read_ducklake.py <folder of write-iceberg.ts>
"""

import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import deltalake
import duckdb
from delta2ducklake.convert import sync_table
from delta2ducklake.ducklake.bootstrap import bootstrap_catalog
from delta2ducklake.ducklake.catalog import DuckDBCatalogConfig
from duckdb_extensions import import_extension

from comparing import check, compare, failures, finish
from noting import note

FOLDER = Path(sys.argv[1]).resolve()
LAKE, CATALOG = FOLDER / "ducklake-lake", FOLDER / "catalog.ducklake"


def read_all(state):
    """Returns the number of rows that are equal, and the names of partitioned tables."""
    catalog, total, partitioned = DuckDBCatalogConfig(str(CATALOG)), 0, []
    names = sorted(path.parent.name for path in LAKE.glob("*/_delta_log"))
    for name in names:
        sync_table(str(LAKE / name), catalog, name)
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'; LOAD ducklake")
        db.execute(f"ATTACH 'ducklake:{CATALOG}' AS lake (READ_ONLY)")
        for name in names:
            table = deltalake.DeltaTable(str(LAKE / name))
            expected = table.to_pyarrow_table()
            counted = db.execute(f'SELECT count(*) FROM lake."{name}"').fetchone()[0]
            check(f"DuckLake, {state}: {name}: count", counted == expected.num_rows, str(counted))
            if table.metadata().partition_columns:
                partitioned.append(name)
                continue
            columns = ", ".join(f'"{column}"' for column in expected.column_names)
            found = db.execute(f'SELECT {columns} FROM lake."{name}"').to_arrow_table()
            compare(f"DuckLake, {state}: {name}", found, expected)
            total += expected.num_rows
    return total, partitioned


shutil.rmtree(LAKE, ignore_errors=True)
CATALOG.unlink(missing_ok=True)
shutil.copytree(FOLDER / "lake", LAKE)
bootstrap_catalog(DuckDBCatalogConfig(str(CATALOG)), data_path=f"{LAKE}/")
import_extension("ducklake")
before, _ = read_all("registered")
shutil.rmtree(LAKE)
shutil.copytree(FOLDER / "expired", LAKE)
after, partitioned = read_all("three runs later")
if not failures:
    versions = f"{version('delta2ducklake')}, duckdb {version('duckdb')}"
    note("DuckLake, delta2ducklake", versions, "Delta log", f"{before + after} rows equal; {', '.join(partitioned)}: counts only")
sys.exit(finish())
