"""A Singer tap with the Meltano SDK: one stream, its records as the export gives them."""
import json
from decimal import Decimal

from export_rows import export_lines
from singer_sdk import Stream, Tap
from singer_sdk import typing as th

# The target takes no decimals: prices are texts.
TEXTS = "title brand mpn gtin price previousPrice priceChangedAt currency url image firstSeenAt lastSeenAt lastChangedAt removedAt".split()


class Items(Stream):
    name = "items"
    primary_keys = ("id",)
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        *(th.Property(name, th.StringType) for name in TEXTS),
        th.Property("attributes", th.StringType),
        th.Property("category", th.StringType),
        th.Property("datasets", th.StringType),
        th.Property("site", th.StringType),
        th.Property("source", th.StringType),
    ).to_dict()

    def get_records(self, context):
        for line in export_lines():
            row = json.loads(line, parse_float=Decimal)
            for name in ("price", "previousPrice"):
                row[name] = None if row.get(name) is None else str(row[name])
            for name in ("attributes", "category", "datasets", "site", "source"):
                row[name] = json.dumps(row.get(name), default=str)
            yield row


class TapItems(Tap):
    name = "tap-items"

    def discover_streams(self):
        return [Items(self)]


if __name__ == "__main__":
    TapItems.cli()
