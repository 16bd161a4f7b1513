"""The export of the API as lines of JSON, as a script in Python would read it."""
import os

import requests


def export_lines():
    url = os.environ["PRICELAKE_BASE_URL"].rstrip("/") + "/api/v1/export"
    headers = {"Authorization": "Bearer " + os.environ["PRICELAKE_API_KEY"]}
    with requests.get(url, params={"format": "ndjson"}, headers=headers, stream=True, timeout=600) as answer:
        answer.raise_for_status()
        yield from answer.iter_lines(chunk_size=1 << 20)
