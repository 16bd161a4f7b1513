"""Compares price indices of pricelake with pyindexnum and PriceIndexCalc2 (PyPI), on a panel of yours.

  compare_indices.py PANEL.csv --item item_id --date date --price price --quantity quantity [--where column=value]
                     [--window 13]

A panel has a row for each item and month; several are one, at their mean price by quantity. The file may end in .gz. Prints
a Markdown table of the largest differences, and ends with 1 if one is above 1e-9."""

import argparse
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

from index_references import compute_indices

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1e-9
# Method, package, and names of indices that stand for it.
SPLICES = ("movement", "window", "half", "mean")
METHODS = [
    ("Jevons, chained", "pyindexnum, linked by hand", ["jevons"]),
    ("Jevons against the first month", "pyindexnum", ["jevons_direct"]),
    ("GEKS-Jevons", "pyindexnum", ["geks_jevons_whole"]),
    ("GEKS-Jevons", "PriceIndexCalc2", ["geks_jevons_of_another"]),
    ("GEKS-Jevons, splices", "pyindexnum", [f"geks_{one}" for one in SPLICES]),
    ("GEKS-Jevons, fbew", "pyindexnum, linked by hand", ["geks_fbew"]),
    ("TPD", "pyindexnum", ["tpd"]),
    ("TPD, splices", "pyindexnum", [f"tpd_{one}" for one in SPLICES]),
    ("TPD, fbew", "pyindexnum, linked by hand", ["tpd_fbew"]),
    ("Laspeyres", "pyindexnum", ["laspeyres"]),
    ("Törnqvist", "pyindexnum", ["tornqvist"]),
    ("GEKS-Törnqvist", "pyindexnum", ["geks_tornqvist_whole"]),
    ("GEKS-Törnqvist", "PriceIndexCalc2", ["geks_tornqvist_of_another"]),
    ("GEKS-Törnqvist, splices", "pyindexnum", [f"tornqvist_{one}" for one in SPLICES]),
    ("GEKS-Törnqvist, fbew", "pyindexnum, linked by hand", ["tornqvist_fbew"]),
]
# Of another package, the index is ours over the whole panel.
OURS = {"geks_jevons_of_another": "geks_jevons_whole", "geks_tornqvist_of_another": "geks_tornqvist_whole"}


def read_panel(options) -> list[tuple[int, int, int, float]]:
    """Rows of item, month, price in units of 0.0001 and quantity, numbered from 0 on."""
    column, _, wanted = (options.where or "").partition("=")
    opened = gzip.open if options.panel.endswith(".gz") else open
    sold: dict[tuple[str, int], list[float]] = {}
    with opened(options.panel, "rt", newline="") as file:
        for row in csv.DictReader(file):
            price, quantity = float(row[options.price]), float(row[options.quantity])
            if (column and row[column] != wanted) or price <= 0 or quantity <= 0:
                continue
            year, month = row[options.date].split("-")[:2]
            amounts = sold.setdefault((row[options.item], int(year) * 12 + int(month)), [0, 0])
            amounts[0] += price * quantity
            amounts[1] += quantity
    if not sold:
        sys.exit(f"{options.panel}: no row has a price and a quantity" + (f" where {options.where}" if column else ""))
    months = {month: nth for nth, month in enumerate(sorted({month for _, month in sold}))}
    items = {item: nth for nth, item in enumerate(sorted({item for item, _ in sold}), 1)}
    rows = [
        (items[item], months[month], round(10_000 * value / quantity), round(quantity, 4))
        for (item, month), (value, quantity) in sold.items()
    ]
    return sorted(row for row in rows if row[2] > 0)


def compute_ours(panel, window: int) -> dict[str, list[float]]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(panel, file)
        file.flush()
        command = ["npx", "tsx", "test/interop/write-indices.ts", file.name, str(window)]
        return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panel")
    for name in ("item", "date", "price", "quantity"):
        parser.add_argument(f"--{name}", required=True, help=f"the column with the {name}")
    parser.add_argument("--where", help="only rows that have this value in this column")
    parser.add_argument("--window", type=int, default=13, help="months of a rolling window")
    options = parser.parse_args()
    panel = read_panel(options)
    months = 1 + max(month for _, month, _, _ in panel)
    print(f"{len({item for item, *_ in panel})} items, {months} months, {len(panel)} prices, windows of {options.window}\n")
    ours = compute_ours(panel, options.window)
    theirs = compute_indices([(item, month, units / 10_000, count) for item, month, units, count in panel], options.window)
    print("| method | reference | largest difference |\n| --- | --- | --- |")
    failed = False
    for method, reference, names in METHODS:
        largest = 0.0
        for name in names:
            mine = ours[OURS.get(name, name)]
            assert len(mine) == len(theirs[name]) == months, f"{name}: {len(mine)} of {months} months"
            largest = max(largest, *(abs(a - b) for a, b in zip(mine, theirs[name])))
        failed |= not largest <= LIMIT
        print(f"| {method} | {reference} | {largest:.0e} |")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
