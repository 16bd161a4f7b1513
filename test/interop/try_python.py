"""Started by try-python.ts: runs page.py and spreads.ipynb of the working directory."""

import os
import sys
from importlib.metadata import version

sys.path.insert(0, os.path.dirname(__file__))
import nbformat
from nbclient import NotebookClient
from noting import note

page = {}
exec(compile(open("page.py").read(), "docs/loader/python.md", "exec"), page)
assert page["run"]["published"], page["run"]
rows = page["table"].num_rows
assert rows == len(page["frame"]) > 0 and page["items"].height > 0, rows
notebook = nbformat.read("spreads.ipynb", as_version=4)
NotebookClient(notebook, kernel_name="python3").execute()
outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
assert any("image/png" in output.get("data", {}) for output in outputs), "no picture"
tools = ("duckdb", "polars", "pandas", "pyarrow", "matplotlib", "nbclient")
versions = ", ".join(f"{name} {version(name)}" for name in tools)
note("Python", versions, "docs/loader/python.md and the notebook", f"synced; {rows} spreads and {page['items'].height} items read, a picture drawn")
