"""Commits of pricelake's tables, as pricelake writes them: rows and how far they are applied in one log entry."""

import functools
import hashlib
import json
import os
import pathlib
import re
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ENGINE = "pricelake/spark"

@functools.cache
def read_tables():
    """Table → description, columns and partition columns; on the driver alone."""
    lines = (HERE / "sql" / "tables.ndjson").read_text("utf8").splitlines()
    return {table["table"]: table for table in map(json.loads, lines)}


def is_committed(lake, table, run):
    """True where this run has committed the table: the repeated merge leaves it as it is."""
    log = pathlib.Path(lake) / table / "_delta_log"
    entries = sorted(log.glob("*.json")) if log.exists() else []
    found = re.findall(r'"appId":"pricelake\.run","version":(\d+)', "".join(one.read_text("utf8") for one in entries))
    if entries and not found:
        raise SystemExit(f"{log} has commits of another program")
    return bool(found) and max(map(int, found)) >= run


def commit(lake, table, files, marks, run_id):
    """Moves staged files into the table and creates its first log entry. `files`: path, partition values, rows, sha256;
    `marks`: application id → version, as src/lake/table-state.ts has them."""
    folder = pathlib.Path(lake) / table
    (folder / "_delta_log").mkdir(parents=True, exist_ok=True)
    now = int(time.time() * 1000)
    adds = [move(folder, one, now) for one in files]
    sync(folder)
    schema = read_tables()[table]
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": describe(schema, now)},
        *({"txn": {"appId": app, "version": version, "lastUpdated": now}} for app, version in marks.items()),
        *adds,
    ]
    info = {"timestamp": now, "operation": "SYNC", "operationParameters": {}, "engineInfo": ENGINE, "runId": run_id}
    info["actions"] = len(actions)
    text = "".join(write(one) + "\n" for one in [{"commitInfo": info}, *actions])
    create_exclusively(folder / "_delta_log", f"{0:020}.json", text)


def describe(schema, now):
    fields = [
        {"name": one["name"], "type": one["type"], "nullable": True, "metadata": {"comment": one["description"]}}
        for one in schema["columns"]
    ]
    return {
        "id": str(uuid.uuid4()),
        "format": {"provider": "parquet", "options": {}},
        "createdTime": now,
        "configuration": {"delta.deletedFileRetentionDuration": "interval 1 hours"},
        "description": schema["description"],
        "schemaString": write({"type": "struct", "fields": fields}),
        "partitionColumns": schema["partitionBy"],
    }


def move(folder, file, now):
    label = ".".join(f"{name}-{encode(value)}" for name, value in file["partition"].items())
    name = f"{label}.{uuid.uuid4()}.parquet".lstrip(".")
    size = os.path.getsize(file["path"])
    os.rename(file["path"], folder / name)
    stats = write({"numRecords": file["rows"], "minValues": {}, "maxValues": {}, "nullCount": {}})
    tags = {"pricelake.sha256": file["sha256"]}
    add = {"path": name, "partitionValues": file["partition"], "size": size, "modificationTime": now}
    return {"add": {**add, "dataChange": True, "stats": stats, "tags": tags}}


def encode(value):
    return "".join(one if re.match("[A-Za-z0-9-]", one) else f"_{one.encode()[0]:02x}" for one in value)


def create_exclusively(folder, name, text):
    """THE COMMIT POINT: before the link there is no version, and of two writers one creates it."""
    temporary = folder / f".{uuid.uuid4()}"
    with open(temporary, "x", encoding="utf8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, folder / name)
    finally:
        os.unlink(temporary)
    sync(folder)


def sync(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def seal(path):
    """Checksum of a file, which is on disk when this returns."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            total.update(data)
        os.fsync(file.fileno())
    return total.hexdigest()


def write(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
