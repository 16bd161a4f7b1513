"""Compares what Spark made with what DuckDB made of the same rows: rows, to the last digit, and types.
Usage: read_spark.py <expected folder> <folder that spread.py wrote> <version of Spark> <world>"""

import pathlib
import sys

import pyarrow
import pyarrow.parquet as parquet

from comparing import compare, failures, finish
from noting import note

expected, made = map(pathlib.Path, sys.argv[1:3])
version, world = sys.argv[3:5]
# Of means and deviations, which depend on the order of the rows: the digits that are compared.
DIGITS = dict.fromkeys(
    """dispersion dynamics index_contributions index_interval law_of_one_price listing_lifetimes lows_highs
      persistence price_index price_leaders sales shop_index_by_category shop_overlap weighted_index""".split(), 12)


def shorten(table, digits):
    """Doubles as texts of so many digits."""
    columns = [
        pyarrow.array([None if one is None else f"{one:.{digits}g}" for one in column.to_pylist()])
        if digits and pyarrow.types.is_floating(column.type) else column
        for column in table.columns
    ]
    return pyarrow.table(columns, names=table.column_names)


WORLDS = {"hard": "values that are hard to count with", "given": "a catalogue"}
for path in sorted(expected.glob("*.parquet")):
    before, wanted = len(failures), parquet.read_table(path)
    if wanted.num_rows == 0:
        continue
    digits = DIGITS.get(path.stem)
    compare(f"Spark {version} {path.stem}", shorten(parquet.read_table(made / path.stem), digits), shorten(wanted, digits))
    equal = f"equal to {digits} digits" if digits else "equal"
    result = f"{wanted.num_rows:,} row{'' if wanted.num_rows == 1 else 's'}, {equal}" if len(failures) == before else "**other rows**"
    note("Spark", version, f"`{path.stem}`, {WORLDS[world]}", result)
sys.exit(finish())
