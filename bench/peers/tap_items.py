"""A Singer tap with the Meltano SDK: one stream, its records as the export gives them."""
import json

from export_rows import export_lines
from singer_sdk import Stream, Tap
from singer_sdk import typing as th

TEXTS = "title brand mpn gtin priceChangedAt currency url image firstSeenAt lastSeenAt lastChangedAt removedAt".split()


class Items(Stream):
    name = "items"
    primary_keys = ("id",)
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        *(th.Property(name, th.StringType) for name in TEXTS),
        th.Property("price", th.NumberType),
        th.Property("previousPrice", th.NumberType),
        th.Property("attributes", th.StringType),
        th.Property("category", th.StringType),
        th.Property("datasets", th.StringType),
        th.Property("site", th.StringType),
        th.Property("source", th.StringType),
    ).to_dict()

    def get_records(self, context):
        for line in export_lines():
            row = json.loads(line)
            for name in ("attributes", "category", "datasets", "site", "source"):
                row[name] = json.dumps(row.get(name))
            yield row


class TapItems(Tap):
    name = "tap-items"

    def discover_streams(self):
        return [Items(self)]


if __name__ == "__main__":
    TapItems.cli()
