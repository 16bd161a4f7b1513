"""What DuckDB writes and Spark writes otherwise: a rewrite a function, on the parsed query. What sqlglot itself translates
isn't here. Every rewrite keeps the result to the last digit; where the usual translation would not, the comment says why."""

import re

from sqlglot import exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark

class Source(DuckDB):
    """Our queries. List places stay as they are written: the rewrite below knows which begin at one."""

    INDEX_OFFSET = 0


class Target(Spark):
    INDEX_OFFSET = 0


# Texts that are replaced before the query is parsed.
TEXTS = [
    # Spark's JSON functions don't tell null from absent: [null, <number>] is recognised in the text of the pair.
    (
        r"json_type\(changes, '\$\.price\[0\]'\) = 'NULL'\s+(?:--[^\n]*\s+)?AND list_contains\(\[[^]]*\], json_type\(changes, '\$\.price\[1\]'\)\)",
        r"regexp_matches(json_extract_string(changes, '$.price'), '^\\[ *null *, *-?[0-9]')",
    ),
    # A generator stands alone in Spark, and days are counted by their ends.
    (
        r"\(day \+ unnest\(range\(until - day\)\)::INTEGER\)::DATE AS day",
        r"explode(sequence(day, date_sub(until, 1))) AS day",
    ),
    # The earliest row: a number beyond 38 digits stands for no time, and one of 36 digits does as well.
    (r"9223372036854775807\)::HUGEINT \* 18446744073709551616", r"1000000000000000000)::HUGEINT * 18446744073709551616"),
    # len() counts a list, length() a text.
    (r"\blen\(", "array_size("),
    # The instant at which a place has a time.
    (r"\btimezone\((\w+), ([\w(']+\)?(?:::VARCHAR)?)::TIMESTAMP\)", r"to_utc_timestamp(\2::TIMESTAMP, \1)"),
    (r"\bmake_timestamptz\(", "timestamp_micros("),
    (r"\berror\(", "raise_error("),
    # A text has no places.
    (r"\bword\[1\]", "left(word, 1)"),
    # Spark has no recursion: spread.py names all nodes above each child.
    (r"WITH RECURSIVE up AS \(\n([^\n]*)\n *UNION\n[^\n]*\n *\)", r"WITH up AS (\1)"),
    # No instant is later.
    (r"TIMESTAMPTZ 'infinity'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"),
    # The path of a name that is data.
    (r"'(\$)?\.\"(\w+\.)?' \|\| (.*?) \|\| '\"'", r"'\1[''\2' || \3 || ''']'"),
    (r"(array_to_string\(.*?), '\"\.\"'\)", r"\1, '''][''')"),
    (r"json_type\((\w+), (\w+\.\w+)\) END = 'ARRAY'", r"starts_with(json_extract_string(\1, \2), '[') END"),
    # A number stands for a value, which Spark takes as it is.
    (r"SELECT (\w+), row_number\(\) OVER \(\) AS (\w+)", r"SELECT \1, \1 AS \2"),
    (r"SELECT \*, row_number\(\) OVER \(\) AS value_id", "SELECT *, {'site_id': site_id, 'name': name, 'value': value} AS value_id"),
    # A pair is of columns.
    (r"IN \(SELECT \((\w+, \w+)\) FROM", r"IN (SELECT \1 FROM"),
    (r"replace\(name, '\.', '\"\.\"'\)", "replace(name, '.', '''][''')"),
    (r"'\[\"VARCHAR\"\]'", "'ARRAY<STRING>'"),
    # The sum of bigints is a wider number in DuckDB.
    (r"\bsum\(((?:change\.)?(?:units|log_price))\)", r"sum(\1::HUGEINT)"),
    (r"\bsum\((now\.log_price - before\.log_price)\)", r"sum((\1)::HUGEINT)"),
]


def read_lists_as_rows(query):
    """DuckDB takes rows of a list for few, where Spark would gather all of them on one machine: SELECT DISTINCT instead."""
    for select in list(query.find_all(exp.Select)):
        clause = select.args.get("from_")
        inner = clause.this.this if clause and isinstance(clause.this, exp.Subquery) else None
        if len(select.expressions) != 1 or not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            continue
        outer, values = select.expressions[0], inner.expressions[0].unalias()
        distinct = values.find(exp.Distinct) if isinstance(values, exp.ArrayAgg) else None
        if distinct and isinstance(outer.unalias(), (exp.Explode, exp.Unnest)):
            select.set("expressions", [exp.alias_(distinct.expressions[0].copy(), outer.alias)])
            select.set("distinct", exp.Distinct())
            select.set("from_", inner.args["from_"])


def rewrite_text(text):
    for pattern, replacement in TEXTS:
        text = re.sub(pattern, replacement, text)
    return text


def spark(text, **parts):
    """A piece of Spark SQL with parts of the query in it: $name."""
    tree = parse_one(text.replace("$", "__"), read=Target)
    return tree.transform(lambda node: parts[node.name[2:]].copy() if is_part(node, parts) else node)


def is_part(node, parts):
    return isinstance(node, exp.Column) and node.name.startswith("__") and node.name[2:] in parts


def rewrite_aggregates(node):
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, (exp.ArgMin, exp.ArgMax)):
        # DuckDB passes over rows without a value, Spark doesn't.
        function = "min_by" if isinstance(node, exp.ArgMin) else "max_by"
        return spark(f"{function}($v, $by) FILTER (WHERE NOT $v IS NULL)", v=node.this, by=node.expression)
    if name in ("arg_min_null", "arg_max_null"):
        return exp.Anonymous(this="min_by" if "min" in name else "max_by", expressions=node.expressions)
    if name == "list_aggregate":
        values, what = node.expressions
        return {"mode": mode_of, "stddev_samp": deviation_of}[what.name](values)
    if isinstance(node, exp.Window) and isinstance(node.this, exp.Anonymous) and node.this.name.lower() == "product":
        values = node.copy()
        values.set("this", exp.Anonymous(this="collect_list", expressions=node.this.expressions))
        return spark("aggregate($v, 1D, (product, one) -> product * one)", v=values)
    chosen = isinstance(node, exp.Filter) and isinstance(node.this, exp.ArrayAgg)
    listed = node.this if chosen else node
    if isinstance(listed, exp.ArrayAgg) and isinstance(listed.this, exp.Order) and (chosen or not isinstance(node.parent, exp.Filter)):
        # Spark's lists have no order of their own, and leave nulls out.
        values = "transform(array_sort(collect_list(named_struct('at', $at, 'value', $v)) FILTER (WHERE $c)), one -> one.value)"
        condition = node.expression.this if chosen else exp.true()
        return spark(values if chosen else values.replace(" FILTER (WHERE $c)", ""), v=listed.this.this, at=listed.this.expressions[0].this, c=condition)
    if isinstance(node, exp.Filter) and isinstance(node.this, (exp.AnyValue, exp.IgnoreNulls)):
        # Spark takes no filter behind IGNORE NULLS.
        value = node.this.find(exp.AnyValue).this
        chosen = exp.Case(ifs=[exp.If(this=node.expression.this, true=value)])
        return exp.IgnoreNulls(this=exp.AnyValue(this=chosen))
    if isinstance(node, exp.Filter) and isinstance(node.this, exp.Filter):
        both = exp.and_(node.this.expression.this, node.expression.this)
        return exp.Filter(this=node.this.this, expression=exp.Where(this=both))
    return node


def rewrite_windows(node):
    """Spark counts places as int, and takes no filter in a window."""
    if not isinstance(node, exp.Window):
        return node
    if isinstance(node.this, (exp.RowNumber, exp.Rank, exp.DenseRank)) and not isinstance(node.parent, exp.Cast):
        return exp.cast(node.copy(), "bigint")
    if not isinstance(node.this, exp.Filter):
        return node
    chosen, condition = node.copy(), node.this.expression.this.copy()
    call = node.this.this.copy()
    value = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.this.copy()
    call.set("this", exp.Case(ifs=[exp.If(this=condition, true=value)]))
    chosen.set("this", call)
    return chosen


def rewrite_quantiles(node):
    """Between two values DuckDB weighs both by their distance; Spark's percentile weighs in another way."""
    chosen = isinstance(node, exp.Filter) and isinstance(node.this, exp.PercentileCont)
    if not chosen and (not isinstance(node, exp.PercentileCont) or isinstance(node.parent, exp.Filter)):
        return node
    quantile = node.this if chosen else node
    value = f"$v) FILTER (WHERE {'$c' if chosen else 'TRUE'}"
    text = f"""get(transform(array(array_sort(collect_list({value}))), sorted -> get(transform(
      array(CAST(array_size(sorted) - 1 AS DOUBLE) * CAST($p AS DOUBLE)), place -> CASE WHEN array_size(sorted) = 0 THEN NULL
        WHEN floor(place) = place THEN get(sorted, CAST(place AS INT))
        ELSE get(sorted, CAST(floor(place) AS INT)) * (1D - (place - floor(place)))
          + get(sorted, CAST(ceil(place) AS INT)) * (place - floor(place)) END), 0)), 0)"""
    parts = {"c": node.expression.this} if chosen else {}
    return spark(text, v=quantile.this, p=quantile.expression, **parts)


def rewrite_discrete_quantiles(node):
    if not isinstance(node, exp.PercentileDisc) or isinstance(node.parent, exp.WithinGroup):
        return node
    return spark("percentile_disc($p) WITHIN GROUP (ORDER BY $v)", v=node.this, p=node.expression)


def rewrite_floors(node):
    """The floor of a double is a double."""
    if isinstance(node, exp.Floor) and not isinstance(node.parent, exp.Cast):
        return exp.cast(node.copy(), "double")
    return node


def rewrite_limits(node):
    """A limit is an int: a larger one is none."""
    if isinstance(node, exp.Limit) and not isinstance(node.expression, exp.Literal):
        return exp.Limit(expression=spark("CAST(LEAST($n, 2147483647) AS INT)", n=node.expression))
    return node


def mode_of(values):
    """The most frequent number of a sorted list; of several, the lowest."""
    text = """(array_max(transform(array_distinct(filter($v, one -> NOT one IS NULL)),
      one -> named_struct('n', size(filter($v, two -> two = one)), 'low', -one))).low * -1)"""
    return spark(text, v=values)


def deviation_of(values):
    """Welford's steps in the order of the list, as DuckDB takes them: another order gives other last digits."""
    text = """CASE WHEN array_size($v) > 1 THEN aggregate($v, named_struct('n', 0D, 'mean', 0D, 'squares', 0D),
      (s, x) -> named_struct('n', s.n + 1D, 'mean', s.mean + (CAST(x AS DOUBLE) - s.mean) / (s.n + 1D), 'squares', s.squares
        + (CAST(x AS DOUBLE) - (s.mean + (CAST(x AS DOUBLE) - s.mean) / (s.n + 1D))) * (CAST(x AS DOUBLE) - s.mean)),
      s -> sqrt(s.squares / (s.n - 1D))) END"""
    return spark(text, v=values)


PRODUCT = "aggregate(zip_with($%s, $%s, (x, y) -> x * y), 0D, (s, x) -> s + x)"


def cosine_of(one, two):
    """Sums in the order of the lists."""
    dot, first, second = (PRODUCT % pair for pair in (("a", "b"), ("a", "a"), ("b", "b")))
    return spark(f"{dot} / sqrt({first} * {second})", a=one, b=two)


def rewrite_lists(node):
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.Bracket) and len(node.expressions) == 1:
        place = node.expressions[0]
        if isinstance(place, exp.Slice) and place.this:  # [2:] is all but the first
            return spark("slice($v, 2, array_size($v))", v=node.this)
        if isinstance(place, exp.Slice):  # [:-2] is all but the last
            return spark("slice($v, 1, array_size($v) - 1)", v=node.this)
        if isinstance(place, exp.Neg):
            return spark("try_element_at($v, $i)", v=node.this, i=place)
        # A place outside of the list is null, also place 0.
        if isinstance(place, exp.Literal):
            return spark("get($v, $i)", v=node.this, i=exp.Literal.number(int(place.name) - 1))
        return spark("get($v, $i - 1)", v=node.this, i=place if isinstance(place, exp.Column) else exp.paren(place))
    if isinstance(node, exp.Array) and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Comprehension):
        return comprehend(node.expressions[0])
    if isinstance(node, exp.ArraySize):
        return exp.Anonymous(this="array_size", expressions=[node.this])
    if name == "list_position" or isinstance(node, exp.ArrayPosition):
        values, value = node.expressions if name else (node.this, node.expression)
        return spark("nullif(array_position($l, $v), 0)", l=values, v=value)
    if isinstance(node, exp.ArrayOverlaps):
        return exp.Anonymous(this="arrays_overlap", expressions=[node.this, node.expression])
    if name == "list_intersect":
        return exp.Anonymous(this="array_intersect", expressions=node.expressions)
    if name == "list_cosine_similarity":
        return cosine_of(*node.expressions)
    if name == "list_dot_product":
        return spark(PRODUCT % ("a", "b"), a=node.expressions[0], b=node.expressions[1])
    if name == "list_reduce":
        values, step = node.expressions
        if isinstance(values, exp.ArrayPrepend):
            return exp.Anonymous(this="aggregate", expressions=[values.this, values.expression, step])
        first, others = spark("get($v, 0)", v=values), spark("slice($v, 2, array_size($v))", v=values)
        return exp.Anonymous(this="aggregate", expressions=[others, first, step])
    if isinstance(node, exp.Transform) and len(node.expression.expressions) > 1:
        return count_from_one(node)
    if name == "list_avg":
        text = """aggregate(filter($v, one -> NOT one IS NULL), named_struct('n', 0D, 'total', 0D),
          (s, x) -> named_struct('n', s.n + 1D, 'total', s.total + x), s -> s.total / nullif(s.n, 0D))"""
        return spark(text, v=node.expressions[0])
    if name == "list_sum":
        text = "aggregate($v, CAST(0 AS DECIMAL(38, 0)), (s, x) -> CAST(s + x AS DECIMAL(38, 0)))"
        return spark(text, v=node.expressions[0])
    return node


def count_from_one(node):
    """The places that a lambda is given begin at 1."""
    body, place = node.expression.this, node.expression.expressions[1]
    for one in [one for one in body.find_all(exp.Identifier) if one.name == place.name]:
        one.replace(exp.paren(exp.Add(this=one.copy(), expression=exp.Literal.number(1))))
    return node


def comprehend(node):
    """[f(x) FOR x IN list IF condition]"""
    variable, values, condition = node.expression, node.args["iterator"], node.args.get("condition")
    if condition is not None:
        values = exp.Anonymous(this="filter", expressions=[values, make_lambda(condition, variable)])
    if isinstance(node.this, exp.Column) and node.this.name == variable.name:
        return values
    return exp.Anonymous(this="transform", expressions=[values, make_lambda(node.this, variable)])


def make_lambda(body, variable):
    return exp.Lambda(this=body.copy(), expressions=[exp.to_identifier(variable.name)])


def rewrite_numbers(node):
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
        return exp.DataType.build("DECIMAL(38, 0)", dialect="spark")
    if isinstance(node, exp.IntDiv) and is_wide(node):
        # Spark's div gives a bigint, and its / rounds: without the remainder nothing is left to round.
        text = "CAST(($a - $a % $b) / $b AS DECIMAL(38, 0))"
        return spark(text, a=exp.paren(unwrap(node.this)), b=exp.paren(unwrap(node.expression)))
    if isinstance(node, exp.Div) and "DECIMAL(38, 0)" in node.sql(dialect=Target):
        # DuckDB divides numbers of 128 bits as doubles.
        return exp.Div(this=exp.cast(exp.paren(node.this), "double"), expression=exp.cast(exp.paren(node.expression), "double"))
    if isinstance(node, exp.Cast) and unwrap(node.this).sql().startswith("'0x' ||"):
        return spark("CAST(conv($v, 16, 10) AS BIGINT)", v=unwrap(node.this).expression)
    if isinstance(node, exp.BitwiseLeftShift):
        return exp.Anonymous(this="shiftleft", expressions=[node.this, node.expression])
    if isinstance(node, exp.Log) and node.expression is not None:
        return exp.Anonymous(this="log10", expressions=[node.expression])
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Round) and node.this.args.get("decimals") is not None:
        # A double to the fourth decimal: Spark rounds the number as it prints, DuckDB the number as it is.
        text = """CAST(get(transform(array($v * 10000),
          one -> CASE WHEN one - floor(one) >= 0.5D THEN ceil(one) ELSE floor(one) END), 0) * 0.0001 AS DECIMAL(18, 4))"""
        return spark(text, v=exp.paren(node.this.this))
    if name == "epoch_us":
        return exp.Anonymous(this="unix_micros", expressions=node.expressions)
    return node


WIDE = {"total", "kept_total"}


def is_wide(node):
    return "DECIMAL(38, 0)" in node.sql(dialect=Target) or any(one.name in WIDE for one in node.find_all(exp.Column))


def unwrap(node):
    return node.this if isinstance(node, exp.Paren) else node


def rewrite_words(node):
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.JSONExtractScalar) or name == "json_extract_string":
        value, path = node.expressions if name else (node.this, node.expression)
        if isinstance(path, exp.Array):
            read = [exp.Anonymous(this="get_json_object", expressions=[value.copy(), one]) for one in path.expressions]
            return exp.Array(expressions=read)
    if isinstance(node, (exp.RegexpExtract, exp.RegexpLike)) or name == "regexp_matches":
        return rewrite_pattern(node)
    if isinstance(node, (exp.RegexpExtractAll, exp.RegexpReplace)):
        return rewrite_repeated_pattern(node)
    if isinstance(node, exp.Format) or name == "format":
        return rewrite_format([node.this, *node.expressions] if not name else node.expressions)
    if name == "json_valid":
        return exp.Anonymous(this="get_json_object", expressions=[node.expressions[0], exp.Literal.string("$")]).is_(exp.null()).not_()
    if name == "to_hours":
        return exp.Anonymous(this="make_dt_interval", expressions=[exp.Literal.number(0), *node.expressions])
    if name == "getvariable":
        return exp.Placeholder(this=node.expressions[0].name)
    if isinstance(node, exp.TryCast) and node.to.this == exp.DataType.Type.DOUBLE and isinstance(node.this, exp.Replace):
        # Java takes 5d and 5f for numbers.
        return spark("TRY_CAST(CASE WHEN NOT $v RLIKE '[0-9.][dDfF]' THEN $v END AS DOUBLE)", v=node.this)
    if isinstance(node, exp.Split):
        return spark("split($t, $s)", t=node.this, s=exp.Literal.string("[" + node.expression.name + "]"))
    return node


def write_pattern(pattern):
    """RE2 folds case in any script, and $ is the end alone."""
    return exp.Literal.string(pattern.name.replace("(?i:", "(?iu:").replace("$", "\\z"))


def rewrite_repeated_pattern(node):
    """Spark gives the first group of each match, not the whole; it replaces each match, DuckDB with 'g' alone."""
    text, pattern = node.this, write_pattern(node.expression)
    if isinstance(node, exp.RegexpExtractAll):
        return exp.Anonymous(this="regexp_extract_all", expressions=[text, pattern, exp.Literal.number(0)])
    flags = node.args.get("modifiers")
    assert (flags and flags.name == "g") or "^" in pattern.name or "\\z" in pattern.name, node.sql()
    return exp.Anonymous(this="regexp_replace", expressions=[text, pattern, node.args["replacement"]])


def rewrite_pattern(node):
    """Groups with names become a struct."""
    text, pattern = node.this, write_pattern(node.expression)
    if isinstance(node, exp.RegexpLike):
        return exp.RegexpLike(this=text, expression=pattern)
    group = node.args.get("position") or node.args.get("group")
    if not group.expressions:
        return exp.Anonymous(this="regexp_extract", expressions=[text, pattern, group.copy()])
    names, fields = group.expressions, []
    for place, name in enumerate(names, 1):
        group = exp.Literal.number(place)
        fields += [name, exp.Anonymous(this="regexp_extract", expressions=[text.copy(), pattern, group])]
    return exp.Anonymous(this="named_struct", expressions=fields)


def rewrite_format(arguments):
    """format('{:.1f} …', x): DecimalFormat rounds a double as it is, half to even, as DuckDB does; printf doesn't."""
    text, *values = arguments
    pieces = re.split(r"(\{[^}]*\})", text.name)
    parts = []
    for piece in filter(None, pieces):
        if not piece.startswith("{"):
            parts.append(exp.Literal.string(piece))
            continue
        value = values.pop(0)
        if piece == "{:.1f}":
            parts.append(spark("format_number($v, '0.0')", v=value))
        elif isinstance(value, exp.Div):
            parts.append(write_millionths(value))
        else:
            parts.append(value)
    return exp.Anonymous(this="concat", expressions=parts)


def write_millionths(value):
    """A quantity as DuckDB prints a double: below a ten-thousandth with an exponent."""
    text = """CASE WHEN $n < 10 THEN concat($n, 'e-06') WHEN $n < 100 AND $n % 10 = 0 THEN concat($n div 10, 'e-05')
      WHEN $n < 100 THEN concat($n div 10, '.', $n % 10, 'e-05') ELSE format_number($v, '0.0#####') END"""
    return spark(text, n=exp.paren(value.this), v=value)


def rewrite_structs(node):
    """A struct's fields in the form that every version takes."""
    if isinstance(node, exp.Struct):
        fields = []
        for one in node.expressions:
            fields += [exp.Literal.string(one.this.name), one.expression]
        return exp.Anonymous(this="named_struct", expressions=fields)
    return node


REWRITES = [
    rewrite_windows,
    rewrite_floors,
    rewrite_quantiles,
    rewrite_discrete_quantiles,
    rewrite_limits,
    rewrite_aggregates,
    rewrite_lists,
    rewrite_numbers,
    rewrite_words,
    rewrite_structs,
]


def rewrite(tree):
    """The query with every rewrite, from the inside out."""
    for one in REWRITES:
        for node in reversed(list(tree.dfs())):
            new = one(node)
            if new is node:
                continue
            if node is tree:
                tree = new
            else:
                node.replace(new)
    return tree
