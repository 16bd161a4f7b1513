"""Price indices of a panel by pyindexnum and PriceIndexCalc2 (PyPI): what ours are compared with."""

import datetime

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


def month_start(month: int) -> datetime.date:
    return datetime.date(2025 + month // 12, month % 12 + 1, 1)


def compute_indices(panel, window: int) -> dict[str, list[float]]:
    """Panel: rows of item, month, price and quantity; every month from 0 on has some."""
    count = 1 + max(month for _, month, _, _ in panel)
    weighted = pl.DataFrame(
        {
            "period": [month_start(month) for _, month, _, _ in panel],
            "product_id": [str(item) for item, _, _, _ in panel],
            "aggregated_price": [price for _, _, price, _ in panel],
            "aggregated_quantity": [quantity for _, _, _, quantity in panel],
        }
    )
    frame = weighted.drop("aggregated_quantity")
    months = [month_start(month) for month in range(count)]

    def cut(first: int, last: int) -> pl.DataFrame:
        return frame.filter(pl.col("period").is_between(months[first], months[last]))

    def link(first: int, last: int) -> float:
        return jevons(frame.filter(pl.col("period").is_in([months[first], months[last]])), balanced=False)

    chained = [1.0]
    for month in range(1, count):
        chained.append(chained[-1] * link(month - 1, month))

    def extend(compute, splice) -> list[float]:
        published = compute(0, window - 1)
        for month in range(window, count):
            newest = compute(month - window + 1, month)
            published = pl.concat([published, splice(published.tail(window), newest).tail(1)])
        return published["index_value"].to_list()

    def grow(compute) -> list[float]:
        """Fixed base, expanding window: the base is the last December."""
        published = [1.0]
        for month in range(1, count):
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
        {"month": [month for _, month, _, _ in panel], "id": [item for item, _, _, _ in panel],
         "price": [price for _, _, price, _ in panel], "quantity": [quantity for _, _, _, quantity in panel]}
    ).sort_values(["month", "id"])
    return {
        **spliced,
        "geks_fbew": grow(geks),
        "tpd_fbew": grow(tpd),
        "tornqvist_fbew": grow(bought),
        "laspeyres": [1.0] + [pair(laspeyres, month) for month in range(1, count)],
        "tornqvist": [1.0] + [pair(tornqvist, month) for month in range(1, count)],
        "geks_tornqvist_whole": bought(0, count - 1)["index_value"].to_list(),
        "geks_tornqvist_of_another": [float(one) for one in geks_of_another(other)],
        "geks_jevons_of_another": [float(one) for one in geks_of_another(other, bilateral_method="jevons")],
        "tpd_carried": time_product_dummy(carry(frame, count), weighted=False)["index_value"].to_list(),
        "geks_carried": geks_jevons(carry(frame, count), balanced=False)["index_value"].to_list(),
        "jevons": chained,
        "jevons_direct": [1.0] + [link(0, month) for month in range(1, count)],
        "geks_jevons": spliced["geks_mean"],
        "geks_jevons_whole": geks_jevons(frame, balanced=False)["index_value"].to_list(),
        "tpd": time_product_dummy(frame, weighted=False)["index_value"].to_list(),
    }


def carry(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """The panel with each missing price replaced by the one before it, for two months at most."""
    rows = {(row["product_id"], row["period"]): row["aggregated_price"] for row in frame.to_dicts()}
    whole = []
    for product in frame["product_id"].unique(maintain_order=True).to_list():
        for month in range(count):
            known = (rows.get((product, month_start(month - back))) for back in range(0, min(2, month) + 1))
            price = next((one for one in known if one is not None), None)
            if price is not None:
                whole.append((month_start(month), product, price))
    return pl.DataFrame(whole, schema=["period", "product_id", "aggregated_price"], orient="row")
