"""Records of CSV (RFC 4180): an empty cell is null, a quoted empty one is a text."""

import re

from items import PARENTS, fold
from typed import Fault, MAX_ROW_BYTES, Pairs, READER, read_text, refuse_depth

CELL = re.compile(r'"((?:[^"]|"")*)"(?=,|\Z)|([^,"][^,]*|)(?=,|\Z)')


def read_records(data):
    """(line, bytes) of each record; a newline inside quotes ends none, and blank lines are none."""
    at, line = 3 if data.startswith(b"\xef\xbb\xbf") else 0, 1
    while at < len(data):
        end = find_end(data, at)
        record = data[at:end].removesuffix(b"\n").removesuffix(b"\r")
        if record:
            yield line, record
        line += data.count(b"\n", at, end)
        at = end


# A quote opens a cell only where the cell begins: within a plain one it ends nothing.
ENDED = re.compile(rb'(?:"(?:[^"]|"")*(?:"[^,\n]*|\Z)|[^",\n][^,\n]*|)(,|\n|\Z)')


def find_end(data, at):
    """Behind the newline that ends the record at `at`."""
    while True:
        cell = ENDED.match(data, at)
        at = cell.end()
        if cell[1] != b",":
            return at


def read_cells(text):
    cells, at = [], 0
    while True:
        match = CELL.match(text, at)
        if match is None:
            raise Fault("not valid CSV: a quote in the wrong place")
        quoted, plain = match.groups()
        cells.append(quoted.replace('""', '"') if quoted is not None else plain or None)
        at = match.end()
        if at == len(text):
            return cells
        at += 1


def read_header(record):
    """Names of the columns, no two alike; none where the header is no CSV."""
    return name_columns(try_cells(record))


def name_columns(header):
    taken, names = set(), []
    for place, cell in enumerate(header, 1):
        own = (cell or f"column_{place}").replace("\0", "")
        name, n = own, 2
        while name.lower() in taken:
            name, n = f"{own}_{n}", n + 1
        taken.add(name.lower())
        names.append(name)
    return names


SAMPLE_RECORDS = 200


def find_objects(records, columns):
    """Columns whose cells hold objects: the first records show it, or those until each such column has shown a value
    (src/apply/observe.ts)."""
    parents = [(place, name) for place, name in enumerate(columns) if fold(name) in PARENTS]
    unseen, found = {name for _, name in parents}, set()
    for number, (_, record) in enumerate(records if parents else ()):
        if number >= SAMPLE_RECORDS and not unseen:
            break
        cells = try_cells(record)
        for place, name in parents if len(cells) == len(columns) else ():
            if cells[place] is not None:
                unseen.discard(name)
                found |= {name} if is_object(cells[place]) else set()
    return found


def try_cells(record):
    try:
        return read_cells(record.decode("utf8", "replace"))
    except Fault:
        return []


def is_object(cell):
    try:
        return cell.startswith("{") and read_text(cell) is not None
    except (ValueError, Fault):
        return False


def read_row(record, columns, objects):
    """Cells of a record → Pairs; what holds the text of an object becomes one."""
    if len(record) > MAX_ROW_BYTES:
        raise Fault(f"the row has {len(record)} bytes, and no more than {MAX_ROW_BYTES} can be typed")
    try:
        cells = read_cells(record.decode("utf8"))
    except UnicodeDecodeError:
        raise Fault("not valid UTF-8") from None
    if len(cells) != len(columns):
        raise Fault(f"{len(cells)} cells, the header has {len(columns)}")
    return Pairs((name, open_cell(name, cell) if name in objects else cell) for name, cell in zip(columns, cells))


def open_cell(name, cell):
    if cell is None:
        return None
    refuse_depth(cell)
    try:
        value = READER.decode(cell)
    except ValueError:
        value = None
    if not isinstance(value, Pairs):
        raise Fault(f"{name} is not a JSON object")
    return value
