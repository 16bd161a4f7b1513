"""A landed row of an export → a row of `items`, as pipelines/models/items.sql makes it. Values are found by any spelling of
their names: nested as in Item, or flat (siteId, site_id, site.id)."""

import re

from typed import (
    Fault,
    Pairs,
    as_text,
    exact_bigint,
    exact_instant,
    exact_money,
    product_key,
    read_text,
    split_names,
    valid_gtin14,
    write_json,
)

VALUES = """id title brand mpn gtin price previousPrice priceChangedAt currency url image attributes category.name
  category.path category.slug category.source datasets site.id site.name site.host site.attribution source.modelId
  source.name firstSeenAt lastSeenAt lastChangedAt removedAt""".split()
PARENTS = ("category", "site", "source")
INSTANTS = "priceChangedAt firstSeenAt lastSeenAt lastChangedAt removedAt".split()


def fold(name):
    return re.sub(r"[_.\-\s]", "", name.lower())


PATHS = {fold(path): path for path in VALUES}
PATHS |= {"itemid": "id", "modelid": "source.modelId", "sourceid": "source.modelId"}


def type_item(row, names, is_csv=False):
    """Pairs of a row → columns of items by name, with site_attribution. Raises Fault with the reason."""
    if not isinstance(row, Pairs):
        raise Fault("not a JSON object")
    values, extra = find_values(row, is_csv)
    attributes, datasets = values.pop("attributes", None), values.pop("datasets", None)
    value = {path: as_text(one) for path, one in values.items()}
    item = cast(value)
    item["attributes"] = read_attributes(attributes, is_csv)
    item["datasets"] = read_datasets(datasets, names, is_csv)
    item["extra"] = "{" + ",".join(extra) + "}" if extra else None
    refuse_halves(item)
    return item


def find_values(row, is_csv):
    values, extra = {}, []
    for name, one in row:
        folded = fold(name)
        if folded in PARENTS and (isinstance(one, Pairs) or not is_csv or one is None):
            if one is not None and not isinstance(one, Pairs):
                raise Fault(f"{name} is not an object")
            for member, inner in one or ():
                path = PATHS.get(fold(folded + member))
                if path is not None and path.startswith(f"{folded}."):
                    values.setdefault(path, inner)
                elif inner is not None:
                    extra.append(f"{write_json(f'{name}.{member}')}:{write_json(inner)}")
            continue
        path = PATHS.get(f"{folded}name" if folded in PARENTS else folded)
        if path is not None and path not in values:
            values[path] = one
        elif one is not None:
            extra.append(f"{write_json(name)}:{write_cell(one) if is_csv else write_json(one)}")
    return values, extra


def write_cell(text):
    """A cell of CSV has no type: what looks like an object or a list is one, anything else is a text."""
    if text[:1] in "[{":
        try:
            read_text(text)
            return text
        except ValueError:
            pass
    return write_json(text)


def cast(value):
    """The casts of items.sql, and its reasons, in its order."""
    get = value.get
    item_id, site = exact_bigint(get("id")), exact_bigint(get("site.id"))
    for name, id in (("id", item_id), ("site.id", site)):
        if id is None:
            shown = "null" if get(name) is None else f'"{get(name)}"'
            raise Fault(f"{name} {shown} is not an int64")
    amounts = {name: exact_money(get(name)) for name in ("price", "previousPrice")}
    for name, amount in amounts.items():
        if get(name) is not None and amount is None:
            raise Fault(f'{name} "{get(name)}" does not fit DECIMAL(18,4)')
    source = exact_bigint(get("source.modelId"))
    if get("source.modelId") is not None and source is None:
        raise Fault(f'source.modelId "{get("source.modelId")}" is not an int64')
    instants = {name: exact_instant(get(name)) for name in INSTANTS}
    for name, instant in instants.items():
        if get(name) is not None and instant is None:
            raise Fault(f'{name} "{get(name)}" is not a date-time of the years 1 to 9999')
    return {
        "item_id": item_id,
        **{name: get(name) for name in ("title", "brand", "mpn", "gtin", "currency", "url", "image")},
        "gtin14": valid_gtin14(get("gtin")),
        "product_id": product_key(get("gtin"), get("brand"), get("mpn")),
        "price": amounts["price"],
        "previous_price": amounts["previousPrice"],
        "price_changed_at": instants["priceChangedAt"],
        **{f"category_{name}": get(f"category.{name}") for name in ("name", "path", "slug", "source")},
        "site_id": site,
        **{f"site_{name}": get(f"site.{name}") for name in ("name", "host", "attribution")},
        "source_id": source,
        "source_name": get("source.name"),
        "first_seen_at": instants["firstSeenAt"],
        "last_seen_at": instants["lastSeenAt"],
        "last_changed_at": instants["lastChangedAt"],
        "removed_at": instants["removedAt"],
        "is_listed": get("removedAt") is None,
    }


def read_attributes(value, is_csv):
    """JSON text. A cell of CSV is printed again where it is JSON, as it came where one of its numbers is long, and a text
    where it is none."""
    if value is None:
        return None
    if not isinstance(value, str) or not is_csv:
        return write_json(value)
    try:
        parsed = read_text(value)
    except ValueError:
        return write_json(value)
    return value if re.search(r"[0-9][0-9.eE+-]{15}", value, re.ASCII) else write_json(parsed, is_kept=lambda token: False)


def read_datasets(value, names, is_csv):
    if value is None:
        return None
    if isinstance(value, list) and not isinstance(value, Pairs):
        return [as_text(one) for one in value]
    if not isinstance(value, str):
        raise Fault("datasets is not a list")
    if value.startswith("["):
        try:
            return [as_text(one) for one in read_text(value)]
        except ValueError:
            pass
    return split_names(value, names)


def refuse_halves(item):
    for value in item.values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any("\ud800" <= one <= "\udfff" for one in text):
                raise Fault("not valid Unicode: half of a surrogate pair")


def type_change(row):
    """Pairs of a change → columns of history by name, with its website's (pipelines/models/history.sql)."""
    if not isinstance(row, Pairs):
        raise Fault("not a JSON object")
    change = dict(row)
    item = dict(open_object(change, "item"))
    site = dict(open_object(item, "site", "item.site"))
    get = lambda object, name: as_text(object.get(name))  # noqa: E731
    change_id, observed = exact_bigint(get(change, "id")), exact_instant(get(change, "observedAt"))
    amounts = {name: exact_money(get(change, name)) for name in ("price", "previousPrice")}
    item_id, site_id = exact_bigint(get(item, "id")), exact_bigint(get(site, "id"))
    shown = lambda text: "null" if text is None else f'"{text}"'  # noqa: E731
    if change_id is None:
        raise Fault(f"id {shown(get(change, 'id'))} is not an int64")
    if get(change, "kind") is None:
        raise Fault("kind is missing")
    if observed is None:
        raise Fault(f"observedAt {shown(get(change, 'observedAt'))} is not a date-time of the years 1 to 9999")
    for name, amount in amounts.items():
        if get(change, name) is not None and amount is None:
            raise Fault(f'{name} "{get(change, name)}" does not fit DECIMAL(18,4)')
    for name, text, id in (("item.id", get(item, "id"), item_id), ("item.site.id", get(site, "id"), site_id)):
        if text is not None and id is None:
            raise Fault(f'{name} "{text}" is not an int64')
    changes = change.get("changes")
    typed = {
        "change_id": change_id,
        "item_id": item_id,
        "kind": get(change, "kind"),
        "observed_at": observed,
        "observed_date": observed // 86_400_000_000,
        "price": amounts["price"],
        "previous_price": amounts["previousPrice"],
        **{name: get(item, name) for name in ("currency", "title", "url")},
        "changes": None if changes is None else write_json(changes),
        "site_id": site_id,
        **{f"site_{name}": get(site, name) for name in ("name", "host", "attribution")},
        "origin": "feed",
    }
    refuse_halves(typed)
    return typed


def open_object(parent, name, path=None):
    value = parent.get(name)
    if value is not None and not isinstance(value, Pairs):
        raise Fault(f"{path or name} is not an object")
    return value or ()
