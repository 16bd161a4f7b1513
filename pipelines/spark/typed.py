"""Landed rows → typed rows, one by one and exactly: ids as int64, money as decimals, instants as microseconds of UTC. No
number passes a double. Each function names the macro of pipelines/models/macros.sql, or the model, that it follows."""

import json
import math
import re
import unicodedata
from decimal import Decimal

MAX_ROW_BYTES = 16 << 20
MAX_RAW_CHARACTERS = 1 << 20
MAX_DEPTH = 500
INT64 = range(-(2**63), 2**63)


class Number(str):
    """A number of JSON as it was written."""


class Fault(Exception):
    """Why a row can't be typed."""


def read_json(data):
    """Bytes of a line → its value: objects as lists of pairs, numbers as Number."""
    if len(data) > MAX_ROW_BYTES:
        raise Fault(f"the row has {len(data)} bytes, and no more than {MAX_ROW_BYTES} can be typed")
    try:
        text = data.decode("utf8")
    except UnicodeDecodeError:
        raise Fault("not valid UTF-8") from None
    refuse_depth(text)
    try:
        return READER.decode(text.strip(" \t\r\n"))
    except ValueError as error:
        raise Fault(f"not valid JSON: {error}") from None


def refuse_constant(name):
    raise ValueError(f"{name} is no number")


class Pairs(list):
    """An object of JSON: (name, value), in order."""


def read_pairs(pairs):
    """A name may come twice with one value, not with two."""
    known = {}
    for name, value in pairs:
        if known.setdefault(name, value) != value:
            raise ValueError(f"Duplicate key '{name}'")
    return Pairs(pairs if len(known) == len(pairs) else known.items())


def make_reader(pairs):
    return json.JSONDecoder(
        object_pairs_hook=pairs, parse_int=Number, parse_float=Number, parse_constant=refuse_constant
    )


READER = make_reader(read_pairs)
TEXT_READER = make_reader(Pairs)


def read_text(text):
    """The value that a cell of CSV is the JSON text of, as json_valid takes it: a name may come twice. Raises ValueError."""
    refuse_depth(text)
    value = TEXT_READER.decode(text)
    write_json(value).encode("utf8")  # half of a surrogate pair is none
    return value


def refuse_depth(text):
    if depth_of(text) > MAX_DEPTH:
        raise Fault(f"nested more than {MAX_DEPTH} deep")


def depth_of(text):
    depth = deepest = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "]}":
            depth -= 1
    return deepest


def write_json(value, is_kept=lambda token: len(token) > 15):
    """JSON text as DuckDB prints it, without spaces. `is_kept`: which numbers with a fraction or an exponent stay as they
    came; the others get the shortest text of their double."""
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{write_json(name)}:{write_json(one, is_kept)}" for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write_json(one, is_kept) for one in value) + "]"
    if not isinstance(value, Number):
        return json.dumps(value, ensure_ascii=False)
    if re.fullmatch(r"-?\d+", value, re.ASCII):
        return str(int(value)) if len(value) <= 18 else str(value)
    return str(value) if is_kept(value) else write_double(value)


def write_double(token):
    value = float(token)
    if math.isinf(value):
        return str(token)
    exact = Decimal(repr(value))
    if value == 0 or -7 < exact.adjusted() < 21:
        text = format(exact, "f")
        return text if "." in text else f"{text}.0"
    mantissa, exponent = repr(value).split("e")
    return f"{mantissa}e{int(exponent)}"


def as_text(value):
    """A value as the text of a VARCHAR column."""
    if value is None or (isinstance(value, str) and not isinstance(value, Number)):
        return value
    return "true" if value is True else "false" if value is False else write_json(value)


def exact_bigint(text):
    if text is None or not re.fullmatch(r"-?(0|[1-9][0-9]*)", text, re.ASCII) or text == "-0" or len(text) > 20:
        return None
    return int(text) if int(text) in INT64 else None


MONEY = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
LARGEST = Decimal("99999999999999.9999")


def exact_money(text):
    if text is None or not MONEY.fullmatch(text):
        return None
    if "e" in text or "E" in text:
        if len(text) > 16 or abs(int(re.split("[eE]", text)[1])) > 40:
            return None
    elif "." in text and len(text.rstrip("0")) - text.index(".") - 1 > 4:
        return None
    value = Decimal(text)
    if abs(value) > LARGEST or value.as_tuple().exponent < -4 and value != round(value, 4):
        return None
    return value.quantize(Decimal("0.0001"))


INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:Z|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)?",
    re.ASCII,
)
FIRST, LAST = -62135596800000000, 253402300799999999


def exact_instant(text):
    """Microseconds since 1970, or None."""
    match = INSTANT.fullmatch(text) if text is not None else None
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if not 1 <= month <= 12 or not 1 <= day <= days_in(year, month) or minute > 59 or second > 59:
        return None
    if hour > 23 and (hour > 24 or minute + second + int(fraction or 0) > 0):
        return None
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1)
    seconds = ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute - offset) * 60 + second
    micros = seconds * 1_000_000 + int((fraction or "").ljust(6, "0")[:6])
    return micros if FIRST <= micros <= LAST else None


def days_in(year, month):
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and is_leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_from_civil(year, month, day):
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def valid_gtin14(gtin):
    if gtin is None or len(gtin) not in (8, 12, 13, 14) or not re.fullmatch("[0-9]+", gtin, re.ASCII) or int(gtin) == 0:
        return None
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(gtin)))
    return gtin.rjust(14, "0") if total % 10 == 0 else None


def product_key(gtin, brand, mpn):
    digits = re.sub("[^0-9]", "", gtin or "").lstrip("0")
    if digits:
        return digits
    brand, mpn = folded(brand), folded(mpn)
    return f"{brand}-{mpn}" if brand and mpn else None


def folded(text):
    lower = "".join(one.lower() for one in text or "")  # one by one: a sigma at the end of a word is a sigma
    return "".join(one for one in lower if unicodedata.category(one)[0] in "LN")


def split_names(text, names):
    """dataset_names: names that /datasets gives stay whole, whatever is in them."""
    known = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    doubled = re.sub(r"([;|,])", r"\1\1", text)
    if known:
        choice = "|".join(re.escape(re.sub(r"([;|,])", r"\1\1", name)) for name in known)
        doubled = re.sub(rf"(?:^|[;|,])\s*({choice})\s*(?:[;|,]|\Z)", "\x1e\\1\x1e", doubled)
    pieces = []
    for place, piece in enumerate(doubled.split("\x1e")):
        pieces += [piece] if place % 2 else re.split(r"[;|]+", piece)
    trimmed = (re.sub(r"^[\s,]+|[\s,]+\Z", "", piece, flags=re.ASCII) for piece in pieces)
    return [re.sub(r"([;|,])[;|,]", r"\1", name) for name in trimmed if name]
