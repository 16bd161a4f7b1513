"""Price indices of a seeded panel by pyindexnum (PyPI), recorded for test/analyze/price-index.test.ts.

  price_index.py FIXTURE          writes the panel and its indices
  price_index.py --check FIXTURE  compares them with what the installed version computes, within 1e-9
"""

import datetime
import json
import math
import random
import sys

import polars as pl
from pyindexnum import geks_jevons, jevons, mean_splice, time_product_dummy

MONTHS = 16
WINDOW = 7
SEED = 20261119


def make_panel() -> list[list[int]]:
    """Rows of item, month and price in cents: listings that come, go and return, and prices that chain badly."""
    rng = random.Random(SEED)
    rows = []
    for item in range(1, 31):
        price = rng.randint(80, 9000)
        first = rng.choice([0, 0, 0, 1, 3, 6])
        last = rng.choice([MONTHS, MONTHS, MONTHS, 12, 9])
        for month in range(first, last):
            if rng.random() < 0.12:
                continue
            if rng.random() < 0.4:
                price = max(1, round(price * math.exp(rng.gauss(0.01, 0.15))))
            sale = rng.random() < 0.15
            rows.append([item, month, max(1, round(price * 0.7)) if sale else price])
    return rows


def month_start(month: int) -> datetime.date:
    return datetime.date(2025 + month // 12, month % 12 + 1, 1)


def compute_indices(panel: list[list[int]]) -> dict[str, list[float]]:
    frame = pl.DataFrame(
        {
            "period": [month_start(month) for _, month, _ in panel],
            "product_id": [str(item) for item, _, _ in panel],
            "aggregated_price": [cents / 100 for _, _, cents in panel],
        }
    )
    months = [month_start(month) for month in range(MONTHS)]

    def cut(first: int, last: int) -> pl.DataFrame:
        return frame.filter(pl.col("period").is_between(months[first], months[last]))

    def link(first: int, last: int) -> float:
        return jevons(frame.filter(pl.col("period").is_in([months[first], months[last]])), balanced=False)

    chained = [1.0]
    for month in range(1, MONTHS):
        chained.append(chained[-1] * link(month - 1, month))
    spliced = geks_jevons(cut(0, WINDOW - 1), balanced=False)
    for month in range(WINDOW, MONTHS):
        window = geks_jevons(cut(month - WINDOW + 1, month), balanced=False)
        extended = mean_splice(spliced.tail(WINDOW), window).tail(1)
        spliced = pl.concat([spliced, extended])
    return {
        "jevons": chained,
        "jevons_direct": [1.0] + [link(0, month) for month in range(1, MONTHS)],
        "geks_jevons": spliced["index_value"].to_list(),
        "geks_jevons_whole": geks_jevons(frame, balanced=False)["index_value"].to_list(),
        "tpd": time_product_dummy(frame, weighted=False)["index_value"].to_list(),
    }


def main() -> None:
    *options, path = sys.argv[1:]
    panel = make_panel()
    columns = dict(zip(("items", "months", "cents"), map(list, zip(*panel))))
    indices = compute_indices(panel)
    if "--check" not in options:
        with open(path, "w") as file:
            json.dump({"window": WINDOW, "panel": columns, "indices": indices}, file)
        return
    with open(path) as file:
        recorded = json.load(file)
    assert recorded["panel"] == columns, "the panel has changed"
    for name, values in indices.items():
        for month, value in enumerate(values):
            assert abs(value - recorded["indices"][name][month]) < 1e-9, (name, month)
    print(f"price indices: {len(indices)} of pyindexnum are as recorded")


if __name__ == "__main__":
    main()
