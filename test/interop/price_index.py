"""Price indices of a seeded panel by pyindexnum and PriceIndexCalc2 (PyPI), recorded for tests of test/analyze.

  price_index.py FIXTURE          writes the panel and its indices
  price_index.py --check FIXTURE  compares them with what the installed version computes, within 1e-9
"""

import json
import math
import random
import sys

from index_references import compute_indices

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


def main() -> None:
    *options, path = sys.argv[1:]
    panel = make_panel()
    quantities = make_quantities(panel)
    columns = {**dict(zip(("items", "months", "cents"), map(list, zip(*panel)))), "quantities": quantities}
    sold = [(item, month, cents / 100, count) for (item, month, cents), count in zip(panel, quantities)]
    indices = compute_indices(sold, WINDOW)
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
