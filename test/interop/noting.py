"""Notes what was tried, for the page: a line of JSON each in the file $RESULTS."""

import json
import os


def note(tool: str, version: str, what: str, result: str) -> None:
    print(f"{tool} {version}: {what}: {result}")
    if "RESULTS" in os.environ:
        with open(os.environ["RESULTS"], "a", encoding="utf8") as file:
            file.write(json.dumps({"tool": tool, "version": version, "what": what, "result": result}) + "\n")
