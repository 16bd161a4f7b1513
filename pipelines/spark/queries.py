"""Runs queries of the folder pipelines on Spark, each part of a WITH as a temporary view."""

import hashlib
import itertools
import re
from collections.abc import Mapping
from pathlib import Path

import dialect
from dialect import Lake, translate_node
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp, parse_one

# Names of relations → names of views.
Scope = Mapping[str, str]

FILE = re.compile(r"(\w+)\.sql")


class Queries:
    """
    Queries over views. `folder` is pipelines; `values` are variables as SQL literals. A part that is AS
    MATERIALIZED is written to Parquet files below `work`: Spark would make it again wherever it is read, and again for a
    worker that is lost.
    """

    def __init__(self, spark: SparkSession, folder: Path, work: str, values: Mapping[str, str]):
        self.spark = spark
        self.folder = folder
        self.work = work
        self.values = values
        self._numbers = itertools.count(1)

    def fingerprint(self) -> str:
        """Tells these queries and their translation from others."""
        files = [*sorted(self.folder.glob("*/*.sql")), Path(dialect.__file__), Path(__file__)]
        return hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()

    def run(self, file: str, tables: Mapping[str, DataFrame]) -> DataFrame:
        """The rows of a file's query over these tables. A query names those of analysis without their folder."""
        return self._run(file, {name: self._view(name, rows) for name, rows in tables.items()})

    def read_text(self, file: str) -> str:
        return next(path for path in (self.folder / file, self.folder / "analysis" / file) if path.exists()).read_text("utf-8")

    def _run(self, file: str, scope: Scope) -> DataFrame:
        return self._select(parse_one(self.read_text(file), read=Lake), dict(scope))

    def keep(self, name: str, rows: DataFrame) -> DataFrame:
        """The same rows, from files."""
        path = f"{self.work}/{name}_{next(self._numbers)}"
        rows.write.parquet(path)
        return self.spark.read.schema(rows.schema).parquet(path)

    def _view(self, name: str, rows: DataFrame) -> str:
        view = f"{name}_{next(self._numbers)}"
        rows.createOrReplaceTempView(view)
        return view

    def _select(self, query: exp.Expression, scope: dict[str, str]) -> DataFrame:
        ways = query.args.pop("with_", None)
        for part in ways.expressions if ways else []:
            rows = self._select(part.this, dict(scope))
            scope[part.alias] = self._view(part.alias, self.keep(part.alias, rows) if part.args.get("materialized") else rows)
        return self.spark.sql(self._translate(query, scope).sql("spark", comments=False))

    def _translate(self, query: exp.Expression, scope: Scope) -> exp.Expression:
        """Spark's query: parts before what they are part of."""
        root = exp.Subquery(this=query)
        for node in reversed(list(root.dfs())):
            made = self._translate_node(node, scope)
            if made is not node:
                node.replace(made)
        return root.this

    def _translate_node(self, node: exp.Expression, scope: Scope) -> exp.Expression:
        if isinstance(node, exp.Table):
            return self._read(node, scope)
        if isinstance(node, exp.Anonymous) and node.name.lower() == "getvariable":
            return parse_one(self.values.get(node.expressions[0].name, "NULL"), read="spark")
        if isinstance(node, exp.Window) and node.args.get("alias") is not None:
            return inline_window(node)
        if isinstance(node, exp.Union) and node.args.get("by_name"):
            return self._match_names(node)
        if isinstance(node, exp.Select):
            self._expand_stars(node)
            return node
        return translate_node(node)

    def _read(self, table: exp.Table, scope: Scope) -> exp.Expression:
        file = FILE.fullmatch(table.name)
        name = file[1] if file else table.name
        view = self._view(name, self._run(table.name, scope)) if file else scope.get(name, name)
        alias = table.alias or (None if file else name)
        made = exp.to_table(view)
        return exp.alias_(made, alias, table=True) if alias else made

    def _columns(self, select: exp.Expression) -> list[str]:
        return self.spark.sql(select.sql("spark", comments=False)).columns

    def _expand_stars(self, select: exp.Select) -> None:
        """Spark 3.5 knows no star without some columns."""
        expanded: list[exp.Expression] = []
        for projection in select.expressions:
            star = projection.this if isinstance(projection, exp.Column) else projection
            left_out = {column.name for column in star.args.get("except_") or []} if isinstance(star, exp.Star) else set()
            replaced = {one.alias: one for one in star.args.get("replace") or []} if isinstance(star, exp.Star) else {}
            if not left_out and not replaced:
                expanded.append(projection)
                continue
            table = projection.table if isinstance(projection, exp.Column) else ""
            rows = exp.Select(expressions=[exp.Column(this=exp.Star(), table=exp.to_identifier(table)) if table else exp.Star()])
            for key in ("from_", "joins", "laterals"):
                if select.args.get(key) is not None:
                    value = select.args[key]
                    rows.set(key, [one.copy() for one in value] if isinstance(value, list) else value.copy())
            names = [name for name in self._columns(rows) if name not in left_out]
            expanded.extend(replaced.get(name, exp.column(name, table or None, quoted=True)) for name in names)
        select.set("expressions", expanded)

    def _match_names(self, union: exp.Union) -> exp.Expression:
        names = self._columns(union.this)
        found = set(self._columns(union.expression))
        columns = [exp.column(name, quoted=True) if name in found else exp.alias_(exp.Null(), name, quoted=True) for name in names]
        other = exp.select(*columns).from_(exp.Subquery(this=union.expression.copy(), alias=exp.to_identifier("matched")))
        return exp.Union(this=union.this.copy(), expression=other, distinct=False)


def inline_window(window: exp.Window) -> exp.Window:
    """Spark extends no named window."""
    select = window.find_ancestor(exp.Select)
    named = next(one for one in select.args["windows"] if one.name == window.args["alias"].name)
    made = window.copy()
    made.set("alias", None)
    for key in ("partition_by", "order"):
        value = named.args.get(key)
        made.set(key, [one.copy() for one in value] if isinstance(value, list) else value and value.copy())
    return made
