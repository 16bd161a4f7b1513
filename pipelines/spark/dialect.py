"""The differences between DuckDB's SQL and Spark's that sqlglot does not translate: functions with other names or results."""

import re
import sys
import unicodedata

from sqlglot import exp, parse_one
from sqlglot.dialects.duckdb import DuckDB

# DuckDB's function → Spark's expression; $1 and so on are the arguments. Arrays: an index beyond the end gives null.
FUNCTIONS = {
    "arg_min_null": "min_by($1, $2)",
    "arg_max_null": "max_by($1, $2)",
    "arg_min": "min_by($1, $2) FILTER (WHERE $1 IS NOT NULL)",
    "arg_max": "max_by($1, $2) FILTER (WHERE $1 IS NOT NULL)",
    "array_to_string": "array_join($1, $2)",
    "epoch_us": "unix_micros($1)",
    "error": "raise_error($1)",
    "json_array_length": "json_array_length(get_json_object($1, $2))",
    "json_valid": "get_json_object($1, '$') IS NOT NULL",
    "json_extract_string": "get_json_object($1, $2)",
    "len": "array_size($1)",
    # Java lowers these two by their context, DuckDB letter by letter.
    "lower": "lower(translate($1, 'İΣ', 'iσ'))",
    "list_concat": "concat(coalesce($1, array()), coalesce($2, array()))",
    "list_contains": "array_contains($1, $2)",
    "list_distinct": "array_distinct($1)",
    "list_has_any": "arrays_overlap($1, $2)",
    "list_position": "nullif(array_position($1, $2), 0)",
    "list_max": "array_max($1)",
    "list_sort": "array_sort($1)",
    "make_timestamptz": "timestamp_micros($1)",
    "quantile_cont": "percentile($1, $2)",
    # Unlike DuckDB's, Spark's sequence counts down where the end is below the start.
    "range": "filter(sequence($1, greatest($1, $2 - 1)), nth -> nth < $2)",
    "regexp_extract": "regexp_extract($1, $2, $3)",
    "regexp_extract_all": "regexp_extract_all($1, $2, 0)",
    "regexp_full_match": "regexp_like($1, $2)",
    "regexp_matches": "regexp_like($1, $2)",
    "regexp_replace": "regexp_replace($1, $2, $3)",
    # The mean and the sum of squared distances are updated as DuckDB does it, so that the result has the same bits.
    "stddev_samp_of_list": "aggregate($1, named_struct('n', 0D, 'mean', 0D, 'squares', 0D), (s, x) -> named_struct('n', s.n + 1, "
    "'mean', s.mean + (x - s.mean) / (s.n + 1), 'squares', s.squares + (x - (s.mean + (x - s.mean) / (s.n + 1))) * (x - s.mean)), "
    "s -> CASE WHEN s.n > 1 THEN sqrt(s.squares / (s.n - 1)) END)",
    # All spaces of Unicode, but no tabs and line ends.
    "trim": "trim(BOTH ' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000' FROM $1)",
    "upper": "upper(translate($1, 'ß', 'ẞ'))",
    "strip_accents": "translate($1, '{accented}', '{bare}')",
}

# Functions that translate_call knows besides.
SPECIAL = ("from_json", "list_aggregate")

# A double from 1 to 2^31 with two decimals as C prints it: its exact binary value, rounded half to even. Java rounds its
# shortest decimal form. The fraction is a whole number of 2^-52, so everything is counted in hundredths of it.
HUNDREDTHS = "(CAST(floor($1) AS DECIMAL(38, 0)) * 4503599627370496 + CAST(($1 - floor($1)) * 4503599627370496D AS BIGINT)) * 100"
TWO_DECIMALS = (
    f"CAST(CAST(({HUNDREDTHS}) DIV 4503599627370496 + CASE WHEN ({HUNDREDTHS}) % 4503599627370496 > 2251799813685248 "
    f"OR ({HUNDREDTHS}) % 4503599627370496 = 2251799813685248 AND ({HUNDREDTHS}) DIV 4503599627370496 % 2 = 1 THEN 1 ELSE 0 END "
    "AS DECIMAL(20, 0)) * 0.01 AS DECIMAL(20, 2))"
)

# RE2's word boundary knows ASCII alone, and its case folding all letters.
BOUNDARY = "(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))"


def list_accents() -> tuple[str, str]:
    """Letters with marks and their letters without, then the marks themselves, which translate() drops."""
    accented, bare, marks = [], [], []
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Mn", "Mc", "Me"):
            marks.append(char)
            continue
        if not unicodedata.decomposition(char) or unicodedata.decomposition(char).startswith("<"):
            continue
        parts = [part for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) not in ("Mn", "Mc", "Me")]
        stripped = unicodedata.normalize("NFC", "".join(parts))
        if len(stripped) == 1 and stripped != char:
            accented.append(char)
            bare.append(stripped)
    return "".join(accented + marks), "".join(bare)


def leave(builders: dict) -> dict:
    return {name: build for name, build in builders.items() if name.lower() not in (*FUNCTIONS, *SPECIAL)}


class Lake(DuckDB):
    """DuckDB's dialect, which leaves the functions above and the numbers of places in lists as they are written."""

    INDEX_OFFSET = 0

    class Parser(DuckDB.Parser):
        FUNCTIONS = leave(DuckDB.Parser.FUNCTIONS)
        FUNCTION_PARSERS = leave(DuckDB.Parser.FUNCTION_PARSERS)


def call(template: str, *arguments: exp.Expression) -> exp.Expression:
    """The expression of a template of Spark's SQL."""
    if "{accented}" in template:
        accented, bare = list_accents()
        template = template.replace("{accented}", accented.replace("\\", "\\\\").replace("'", "\\'")).replace("{bare}", bare)
    made = parse_one(re.sub(r"\$(\d)", r"argument_\1", template), read="spark")

    def fill(node: exp.Expression) -> exp.Expression:
        match = re.fullmatch(r"argument_(\d)", node.name) if isinstance(node, exp.Column) else None
        return arguments[int(match[1]) - 1].copy() if match else node

    return made.transform(fill)


def to_java_pattern(pattern: str, is_whole: bool) -> str:
    """A pattern of RE2 for Java: lines end at \\n alone, and $ matches at the end of the text alone."""
    pattern = pattern.replace("(?i)", "(?iu)").replace("\\b", BOUNDARY)
    pattern = re.sub(r"\$(?![^\[]*\])", r"\\z", pattern)
    return f"(?d)\\A(?:{pattern})\\z" if is_whole else f"(?d){pattern}"


def to_java_path(path: exp.Expression) -> exp.Expression:
    """A JSON path with quoted names for get_json_object, which takes them in brackets."""

    def rewrite(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Literal) or not node.is_string:
            return node
        text = node.this.replace('$."', "$['").replace('"."', "']['")
        return exp.Literal.string(re.sub('"$', "']", text))

    return path.transform(rewrite)


def translate_format(format_text: str, values: list[exp.Expression]) -> exp.Expression:
    """format('{} of {:.2f}', a, b) as a concatenation."""
    parts: list[exp.Expression] = []
    left = list(values)
    for piece in re.split(r"(\{[^}]*\})", format_text):
        if piece == "{}":
            parts.append(left.pop(0))
        elif piece == "{:.2f}":
            parts.append(call(TWO_DECIMALS, exp.Paren(this=left.pop(0))))
        elif piece:
            parts.append(exp.Literal.string(piece))
    return exp.func("concat", *parts)


def translate_call(name: str, arguments: list[exp.Expression]) -> exp.Expression:
    if name == "list_aggregate":
        return call(FUNCTIONS[f"{arguments[1].name}_of_list"], arguments[0])
    if name == "range" and len(arguments) == 1:
        arguments = [exp.Literal.number(0), *arguments]
    if name.startswith("regexp"):
        arguments[1] = exp.Literal.string(to_java_pattern(arguments[1].name, name == "regexp_full_match"))
    if name == "regexp_extract" and len(arguments) > 2 and isinstance(arguments[2], exp.Array):
        fields = [
            part
            for n, field in enumerate(arguments[2].expressions, 1)
            for part in (field, call("nullif(regexp_extract($1, $2, $3), '')", *arguments[:2], exp.Literal.number(n)))
        ]
        return exp.func("named_struct", *fields)
    if name == "regexp_extract" and len(arguments) == 2:
        arguments.append(exp.Literal.number(0))
    # A pattern that begins with ^ has one match at most.
    if name == "regexp_replace" and len(arguments) < 4 and not arguments[1].name.startswith("(?d)^"):
        raise ValueError("regexp_replace of the first match alone is not translated")
    if name == "from_json":
        return call("from_json($1, 'ARRAY<STRING>')", arguments[0])
    if name == "json_extract_string":
        if isinstance(arguments[1], exp.Array):
            return exp.array(*[translate_call(name, [arguments[0], path]) for path in arguments[1].expressions])
        arguments[1] = to_java_path(arguments[1])
    return call(FUNCTIONS[name], *arguments)


def is_empty_list(node: exp.Expression) -> bool:
    return isinstance(node, exp.Array) and not node.expressions


def translate_node(node: exp.Expression) -> exp.Expression:
    """Spark's form of one node, whose parts are Spark's already."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in (*FUNCTIONS, *SPECIAL):
        return translate_call(node.name.lower(), list(node.expressions))
    if isinstance(node, exp.Filter) and isinstance(node.this, exp.Filter):
        return exp.Filter(this=node.this.this, expression=exp.Where(this=exp.and_(node.this.expression.this, node.expression.this)))
    if isinstance(node, exp.Limit):
        return exp.Limit(expression=exp.cast(node.expression, "INT"))
    if isinstance(node, exp.Bracket) and len(node.expressions) == 1:
        index = node.expressions[0]
        if isinstance(index, exp.Slice):
            first, last = index.this or exp.Literal.number(1), index.expression or call("array_size($1)", node.this)
            return call("slice($1, CAST($2 AS INT), CAST(greatest($3 - $2 + 1, 0) AS INT))", node.this, first, last)
        if isinstance(index, exp.Neg):
            return call("try_element_at($1, $2)", node.this, index)
        if not index.is_string:
            return call("get($1, CAST($2 - 1 AS INT))", node.this, index)
    if isinstance(node, (exp.EQ, exp.NEQ)) and is_empty_list(node.expression):
        return call(f"array_size($1) {'=' if isinstance(node, exp.EQ) else '<>'} 0", node.this)
    if isinstance(node, exp.Cast) and node.this.name == "infinity":
        return parse_one("TIMESTAMP '9999-12-31 00:00:00Z'", read="spark")
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
        return exp.DataType.build("DECIMAL(38, 0)")
    if isinstance(node, exp.Array) and len(node.expressions) == 1 and node.expressions[0].meta.get("is_list"):
        return node.expressions[0]
    if isinstance(node, exp.Alias) and is_row_key(node):
        return exp.alias_(exp.func("struct", *[one.this for one in node.this.args["order"].expressions]), node.alias)
    if isinstance(node, exp.Comprehension):
        return translate_comprehension(node)
    if isinstance(node, exp.Format):
        return translate_format(node.this.name, node.expressions)
    return node


def is_row_key(node: exp.Alias) -> bool:
    """A number of all rows that only tells them apart. One task would have to count them; what they are ordered by does it."""
    window = node.this
    is_number = isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber) and not window.args.get("partition_by")
    return is_number and (node.alias == "key" or node.alias.endswith("_id"))


def translate_comprehension(node: exp.Comprehension) -> exp.Expression:
    """[f(x) FOR x IN list IF g(x)] as transform and filter."""
    names = [node.expression.this if isinstance(node.expression, exp.Column) else node.expression]
    rows = node.args["iterator"]
    condition = node.args.get("condition")
    if condition is not None:
        rows = exp.func("filter", rows, exp.Lambda(this=condition, expressions=names))
    made = exp.func("transform", rows, exp.Lambda(this=node.this, expressions=names))
    # It stands in brackets, which are no list of lists.
    made.meta["is_list"] = True
    return made
