"""dlt as its documentation shows it: a resource that yields lists of dictionaries, loaded as Parquet files."""
import json
import sys

import dlt
from export_rows import export_lines


@dlt.resource(name="items", primary_key="id", max_table_nesting=0)
def items():
    page = []
    for line in export_lines():
        row = json.loads(line)
        # As text: dlt takes no integer beyond 64 bits, and attributes may hold one.
        row["attributes"] = json.dumps(row["attributes"])
        page.append(row)
        if len(page) == 10_000:
            yield page
            page = []
    yield page


destination = dlt.destinations.filesystem(bucket_url="file://" + sys.argv[1])
pipeline = dlt.pipeline("peer", destination=destination, dataset_name="prices", pipelines_dir=sys.argv[1] + "/state")
pipeline.run(items(), loader_file_format="parquet", write_disposition="replace")
