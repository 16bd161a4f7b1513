"""Merges a landing in many tries: each step that leaves something behind is stopped before, once, and the lake is copied as
it is then. Usage: spark-submit stop_merge.py --lake <folder> --copies <folder>"""

import collections
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "spark"))

import delta_log
import merge
from landed import Landing

lake, copies = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[4])
stopped, moved = [], collections.Counter()


class Stop(Exception):
    """Stands for the end of the process."""


def stop_before(owner, name, describe):
    """`describe`: the values of a call → what is about to happen; None for what needs no stop."""
    work = getattr(owner, name)

    def step(*values):
        place = describe(*values)
        if place is not None and place not in stopped:
            stopped.append(place)
            raise Stop(place)
        return work(*values)

    setattr(owner, name, step)


def describe_move(folder, *_):
    moved[folder] += 1
    return f"file {moved[folder]} of {folder.name}" if moved[folder] <= 2 else None


def describe_sync(folder):
    return f"the end of the commit of {folder.parent.name}" if folder.name == "_delta_log" else None


def type_once(work):
    """What was typed stays the same in all tries."""
    typed = {}

    def keep(spark, rows, columns, folder):
        if folder.name not in typed:
            typed[folder.name] = work(spark, rows, columns, copies / folder.name)
        return typed[folder.name]

    return keep


def copy_lake():
    """As a process that ended here would leave it."""
    copy = copies / f"stop-{len(stopped):02}"
    shutil.copytree(lake, copy)
    print(f"stopped before {stopped[-1]}")


stop_before(Landing, "append", lambda _, entry: f"line {entry['type']} of the journal")
stop_before(delta_log, "move", describe_move)
stop_before(delta_log, "create_exclusively", lambda folder, *_: f"the commit of {folder.parent.name}")
stop_before(delta_log, "sync", describe_sync)
merge.keep = type_once(merge.keep)

def merge_once():
    moved.clear()
    shutil.rmtree(staging, ignore_errors=True)
    merge.merge(spark, lake, Landing(lake), staging)


spark = merge.open_session()
staging = lake / "_pricelake" / "staging" / "stopped"
copies.mkdir()
while True:
    try:
        merge_once()
        break
    except Stop:
        copy_lake()
print(f"merged after {len(stopped)} stops; again, with nothing left to do:")
merge_once()
shutil.rmtree(staging, ignore_errors=True)
spark.stop()
