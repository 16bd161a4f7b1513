"""Which columns a query gives: Spark 3.5 has no `* EXCEPT`, so stars are written out."""

from sqlglot import exp


def expand_stars(select, known):
    """Writes the stars of a SELECT out, in place. `known`: table or step → its columns."""
    sources = read_sources(select, known)
    shared = [name.name for join in select.args.get("joins") or [] for name in join.args.get("using") or []]
    out = []
    for one in select.expressions:
        star = one.this if isinstance(one, exp.Column) and isinstance(one.this, exp.Star) else one
        if not isinstance(star, exp.Star):
            out.append(one)
            continue
        left_out = {name.name for name in star.args.get("except_") or []}
        table = one.table if isinstance(one, exp.Column) else ""
        replaced = {value.alias: value for value in star.args.get("replace") or []}
        out += [
            replaced.get(name) or exp.column(name, None if (name in shared and not table) or len(sources) == 1 else source)
            for source, name in list_columns(sources, table, shared)
            if name not in left_out
        ]
    select.set("expressions", out)
    return [one.alias_or_name for one in out]


def list_columns(sources, table, shared):
    seen = set()
    for source, names in sources.items():
        for name in names:
            if table in ("", source) and not (name in shared and name in seen):
                seen.add(name)
                yield source, name


def read_sources(select, known):
    """Alias → columns, of FROM and of the joins; those of a semi join are not seen."""
    clause = select.args.get("from_")
    joins = [join for join in select.args.get("joins") or [] if join.kind not in ("SEMI", "ANTI")]
    sources = {}
    for one in [clause, *joins] if clause else []:
        relation = one.this
        if isinstance(relation, exp.Subquery):
            sources[relation.alias] = columns_of(relation.this, known)
        else:
            sources[relation.alias_or_name] = known[relation.name]
    return sources


def columns_of(query, known):
    """Columns of a SELECT or UNION; writes the stars in it out."""
    if isinstance(query, exp.SetOperation):
        columns_of(query.expression, known)
        return columns_of(query.this, known)
    if isinstance(query, (exp.Subquery, exp.Paren)):
        return columns_of(query.this, known)
    for join in query.args.get("joins") or []:
        if isinstance(join.this, exp.Subquery):
            columns_of(join.this.this, known)
    return expand_stars(query, known)
