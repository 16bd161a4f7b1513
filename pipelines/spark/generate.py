"""Writes sql/*.sql: our queries in Spark's SQL, from the files that DuckDB runs. Needs sqlglot and PyYAML.

    python pipelines/spark/generate.py           # writes the files
    python pipelines/spark/generate.py --check   # 1 when one of them is not what would be written

A file is a list of steps, a view each: `-- step: <view>`, and `-- step: <view>, kept` where several steps read it, since
Spark computes a view again wherever it is used. The last step is the result; `-- columns:` has its types."""

import hashlib
import pathlib
import re
import sys

import yaml
from sqlglot import exp, parse_one

from columns import columns_of
from dialect import Source, Target, read_lists_as_rows, rewrite, rewrite_text

HERE = pathlib.Path(__file__).resolve().parent
PIPELINES = HERE.parent
# Those of pipelines/analysis that need no rewrite of their own.
ANALYSES = """assortment assortment_gaps availability changes_by_day cheapest_days daily_spreads dispersion dynamics
  index_contributions index_interval law_of_one_price listing_lifetimes lows_highs movers persistence price_index price_leaders
  price_spells prior_price reductions sales shop_index_by_category shop_overlap source_freshness spread_by_category
  spread_by_day spread_histogram spread_moves spread_summary stock_moves successors weighted_index widest_spreads""".split()
# Result → the file that DuckDB runs.
QUERIES = {
    "products": "models/products.sql",
    "product_prices": "models/product_prices.sql",
    "shop_currencies": "models/shop_currencies.sql",
    "offers": "analysis/judged_offers.sql",
    "price_spread": "analysis/price_spread.sql",
    "matches": "models/matches.sql",
    "offer_prices": "analysis/offer_prices.sql",
    "price_spread_daily": "analysis/price_spread_daily.sql",
    **{name: f"analysis/{name}.sql" for name in ANALYSES},
}
VIEWS = {
    "weights": ["kind", "unit", "period", "weight"],
    "tree": ["child", "parent"],
    "rates": ["date", "currency", "rate"],
    "offer_prices": ["product_id", "currency", "item_id", "site_id", "price", "from_day", "to_day"],
    "price_spells": """item_id product_id site_id currency price from_at to_at from_day to_day began ended ended_before price_before
      is_suspect category_slug is_confirmed time_zone""".split(),
}


def read_query(path):
    """A query with those that it names in the place of their names, as readAnalysis does."""
    text = (PIPELINES / path).read_text("utf8")

    def include(match):
        return f"{match[1]}({read_query('analysis/' + match[2] + '.sql')})"

    return re.sub(r"^(?!--)(.*)\(FROM '(\w+)\.sql'\)", include, text, flags=re.M)


def read_tables():
    """Table → column → type, from the schemas."""
    tables = {}
    for path in sorted((PIPELINES.parent / "schemas").glob("*.yaml")):
        schema = yaml.safe_load(path.read_text("utf8"))
        tables[schema["table"]] = {column["name"]: spark_type(column["type"]) for column in schema["columns"]}
    return tables


def spark_type(text):
    named = {"VARCHAR": "STRING", "VARCHAR[]": "ARRAY<STRING>", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}
    return named.get(text, text)


class Steps:
    """The parts of a query, each behind those that it reads."""

    def __init__(self, name, tables):
        self.name, self.known, self.steps, self.taken, self.lifted = name, dict(tables), [], set(), {}

    def add(self, query, scope, name):
        """Adds a query's own parts, then the query. `scope`: the names that it may use → steps."""
        scope = dict(scope)
        clause = query.args.get("with_")
        for part in clause.expressions if clause else []:
            inner = self.find_name(f"{self.name}__{part.alias}")
            self.add(part.this, scope, inner)
            scope[part.alias] = inner
        query.set("with_", None)
        lift_joins(query)
        read_lists_as_rows(query)
        self.lift_parts(query, scope)
        for table in list(query.find_all(exp.Table)):
            if table.name in scope:
                table.replace(exp.alias_(exp.to_table(scope[table.name]), table.alias_or_name, table=True))
        self.known[name] = columns_of(query, self.known)
        name_groups(query)
        write_windows_out(query)
        self.steps.append((name, rewrite(query)))

    def lift_parts(self, query, scope):
        """Makes steps of the queries in FROM and IN that have parts of their own; one of several that are alike."""
        for one in list(query.find_all(exp.Subquery)):
            inner = one.this
            while isinstance(inner, (exp.Subquery, exp.Paren)):
                inner = inner.this
            is_source = isinstance(one.parent, (exp.From, exp.Join))
            if not (is_source or isinstance(one.parent, exp.In)) or not inner.args.get("with_") or one.root() is not query.root():
                continue
            key = inner.sql(), *scope.items()
            if key not in self.lifted:
                self.lifted[key] = self.find_name(f"{self.name}__{one.alias or 'part'}")
                self.add(inner.pop(), scope, self.lifted[key])
            name = self.lifted[key]
            if is_source:
                one.replace(exp.alias_(exp.to_table(name), one.alias or name, table=True))
            else:
                one.set("this", exp.select(*self.known[name]).from_(name))

    def find_name(self, wanted):
        if wanted in self.taken:
            return self.find_name(wanted + "_")
        self.taken.add(wanted)
        return wanted


def lift_joins(query):
    """FROM a JOIN b without SELECT is parsed as a table with joins of its own."""
    for select in query.find_all(exp.Select):
        clause = select.args.get("from_")
        if clause and clause.this.args.get("joins"):
            select.set("joins", [*clause.this.args["joins"], *(select.args.get("joins") or [])])
            clause.this.set("joins", None)


def name_groups(query):
    """A running number of groups is another one in each reading of a Spark view: what they are grouped by names them."""
    for window in list(query.find_all(exp.Window)):
        group = window.find_ancestor(exp.Select).args.get("group")
        if isinstance(window.this, exp.RowNumber) and group and not window.args.get("partition_by"):
            fields = [part for one in group.expressions for part in (exp.Literal.string(one.name), one.copy())]
            window.replace(exp.Anonymous(this="named_struct", expressions=fields))


def write_windows_out(query):
    """Spark takes no name of a window with a frame beside it."""
    for select in query.find_all(exp.Select):
        named = {one.name: one for one in select.args.get("windows") or []}
        for window in select.find_all(exp.Window):
            if window.args.get("alias") and window.args.get("spec") and not window.parent.args.get("windows"):
                meant = named[window.alias]
                window.set("partition_by", [one.copy() for one in meant.args.get("partition_by") or []])
                window.set("order", meant.args["order"].copy())
                window.set("alias", None)


def generate(name, path):
    text = read_query(path)
    steps = Steps(name, {**{table: list(columns) for table, columns in read_tables().items()}, **VIEWS})
    tree = parse_one(rewrite_text(text), read=Source)
    steps.add(tree, {}, name)
    lines = [f"-- Made by generate.py from pipelines/{path}: change that one. Source {hash_source(text)}."]
    if name in (tables := read_tables()):
        lines.append("-- columns: " + ", ".join(f"{column} {kind}" for column, kind in tables[name].items()))
    read = [table.name for _, query in steps.steps for table in query.find_all(exp.Table)]
    for step, query in steps.steps:
        lines.append(f"-- step: {step}{', kept' if read.count(step) > 1 else ''}")
        lines.append(query.sql(dialect=Target, pretty=True, comments=False) + ";")
    return "\n".join(lines) + "\n"


def hash_source(text):
    """What a file is made of, so that a test without Python sees that it is out of date."""
    parts = [text, *((HERE / file).read_text("utf8") for file in ("generate.py", "dialect.py", "columns.py"))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def main():
    stale = []
    made = {f"{name}.sql": generate(name, path) for name, path in QUERIES.items()}
    for name, text in made.items():
        file = HERE / "sql" / name
        if not file.exists() or file.read_text("utf8") != text:
            stale.append(file.name)
            if "--check" not in sys.argv:
                file.write_text(text, "utf8")
    print(f"{', '.join(stale) or 'nothing'} {'is out of date' if '--check' in sys.argv else 'written'}")
    sys.exit(1 if stale and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
