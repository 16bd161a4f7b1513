"""Price indices of a seeded panel by pyindexnum and PriceIndexCalc2 (PyPI), recorded for tests of test/analyze.

  price_index.py FIXTURE          writes the panel and its indices
  price_index.py --check FIXTURE  compares them with what the installed version computes, within 1e-9
"""

import datetime
import json
import math
import random
import sys

import pandas as pd
import polars as pl
from PriceIndexCalc.pandas_modules.multilateral import geks as geks_of_another
from pyindexnum import (
    geks_jevons,
    geks_tornqvist,
    half_splice,
    jevons,
    laspeyres,
    mean_splice,
    movement_splice,
    time_product_dummy,
    tornqvist,
    window_splice,
)

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


def make_quantities(panel: list[list[int]]) -> list[int]:
    """Quantities that rise where a price falls."""
    rng = random.Random(SEED + 1)
    return [max(1, round(40 * math.exp(rng.gauss(0, 0.6)) * (2000 / cents) ** 0.4)) for _, _, cents in panel]


def month_start(month: int) -> datetime.date:
    return datetime.date(2025 + month // 12, month % 12 + 1, 1)


def compute_indices(panel: list[list[int]], quantities: list[int]) -> dict[str, list[float]]:
    weighted = pl.DataFrame(
        {
            "period": [month_start(month) for _, month, _ in panel],
            "product_id": [str(item) for item, _, _ in panel],
            "aggregated_price": [cents / 100 for _, _, cents in panel],
            "aggregated_quantity": quantities,
        }
    )
    frame = weighted.drop("aggregated_quantity")
    months = [month_start(month) for month in range(MONTHS)]

    def cut(first: int, last: int) -> pl.DataFrame:
        return frame.filter(pl.col("period").is_between(months[first], months[last]))

    def link(first: int, last: int) -> float:
        return jevons(frame.filter(pl.col("period").is_in([months[first], months[last]])), balanced=False)

    chained = [1.0]
    for month in range(1, MONTHS):
        chained.append(chained[-1] * link(month - 1, month))

    def extend(compute, splice) -> list[float]:
        published = compute(0, WINDOW - 1)
        for month in range(WINDOW, MONTHS):
            window = compute(month - WINDOW + 1, month)
            published = pl.concat([published, splice(published.tail(WINDOW), window).tail(1)])
        return published["index_value"].to_list()

    def grow(compute) -> list[float]:
        """Fixed base, expanding window: the base is the last December."""
        published = [1.0]
        for month in range(1, MONTHS):
            base = max(0, month // 12 * 12 - 1)
            published.append(published[base] * compute(base, month)["index_value"][-1])
        return published

    def between(first: int, last: int) -> pl.DataFrame:
        return weighted.filter(pl.col("period").is_between(months[first], months[last]))

    geks = lambda first, last: geks_jevons(cut(first, last), balanced=False)
    tpd = lambda first, last: time_product_dummy(cut(first, last), weighted=False)
    bought = lambda first, last: geks_tornqvist(between(first, last), balanced=False)
    pair = lambda of, last: of(weighted.filter(pl.col("period").is_in([months[0], months[last]])), balanced=False)
    spliced = {
        f"{name}_{how}": extend(compute, splice)
        for name, compute in (("geks", geks), ("tpd", tpd), ("tornqvist", bought))
        for how, splice in (
            ("movement", movement_splice),
            ("window", window_splice),
            ("half", half_splice),
            ("mean", mean_splice),
        )
    }
    other = pd.DataFrame(
        {"month": [m for _, m, _ in panel], "id": [i for i, _, _ in panel],
         "price": [c / 100 for _, _, c in panel], "quantity": quantities}
    ).sort_values(["month", "id"])
    return {
        **spliced,
        "geks_fbew": grow(geks),
        "tpd_fbew": grow(tpd),
        "tornqvist_fbew": grow(bought),
        "laspeyres": [1.0] + [pair(laspeyres, month) for month in range(1, MONTHS)],
        "tornqvist": [1.0] + [pair(tornqvist, month) for month in range(1, MONTHS)],
        "geks_tornqvist_whole": bought(0, MONTHS - 1)["index_value"].to_list(),
        "geks_tornqvist_of_another": [float(one) for one in geks_of_another(other)],
        "geks_jevons_of_another": [float(one) for one in geks_of_another(other, bilateral_method="jevons")],
        "tpd_carried": time_product_dummy(carry(frame), weighted=False)["index_value"].to_list(),
        "geks_carried": geks_jevons(carry(frame), balanced=False)["index_value"].to_list(),
        "jevons": chained,
        "jevons_direct": [1.0] + [link(0, month) for month in range(1, MONTHS)],
        "geks_jevons": spliced["geks_mean"],
        "geks_jevons_whole": geks_jevons(frame, balanced=False)["index_value"].to_list(),
        "tpd": time_product_dummy(frame, weighted=False)["index_value"].to_list(),
    }


def carry(frame: pl.DataFrame) -> pl.DataFrame:
    """The panel with each missing price replaced by the one before it, for two months at most."""
    rows = {(row["product_id"], row["period"]): row["aggregated_price"] for row in frame.to_dicts()}
    whole = []
    for product in frame["product_id"].unique(maintain_order=True).to_list():
        for month in range(MONTHS):
            known = (rows.get((product, month_start(month - back))) for back in range(0, min(2, month) + 1))
            price = next((one for one in known if one is not None), None)
            if price is not None:
                whole.append((month_start(month), product, price))
    return pl.DataFrame(whole, schema=["period", "product_id", "aggregated_price"], orient="row")


def main() -> None:
    *options, path = sys.argv[1:]
    panel = make_panel()
    quantities = make_quantities(panel)
    columns = {**dict(zip(("items", "months", "cents"), map(list, zip(*panel)))), "quantities": quantities}
    indices = compute_indices(panel, quantities)
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
    print(f"price indices: {len(indices)} of pyindexnum and PriceIndexCalc2 are as recorded")


if __name__ == "__main__":
    main()
