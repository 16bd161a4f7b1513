"""Kills workers of a cluster while an application runs: kill_workers.py <folder of cluster.sh> <port of the pages of an application> <every> <results file>.

Watches the stages of the application. In every so many-th stage of a name (the kinds of tasks of `sync`), the first included,
it ends one executor and then a worker, as a machine that is lost, and starts another worker. Ends when no application has come
for half a minute, or no first one for five, and writes how many it killed by name."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter

folder, port, every, results = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
UI = f"http://127.0.0.1:{port}/api/v1/applications"
chance = random.Random(7)
seen, named, killed = set(), Counter(), []
ends_at = time.monotonic() + 300


def ask(address):
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)


def find_children(parent):
    """Process ids of the executors of a worker."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(path.parent.name)


def is_worker(pid):
    """False for another process that has the number of a worker that ended."""
    try:
        return f"{folder}/work" in pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def kill_one(stage, name):
    workers = [int(line) for line in (folder / "workers").read_text().split()]
    alive = [pid for pid in workers if is_worker(pid)]
    worker = chance.choice(alive)
    executors = list(find_children(worker))
    # The worker first: it would tell the master, and a machine that is lost can't.
    for pid in [worker, *executors]:
        os.kill(pid, signal.SIGKILL)
    killed.append({"stage": stage, "name": name, "executors": len(executors)})
    subprocess.run([str(pathlib.Path(__file__).parent / "cluster.sh"), "worker", str(folder)], check=True)


while time.monotonic() < ends_at:
    try:
        application = ask(UI)[0]["id"]
        stages = ask(f"{UI}/{application}/stages?status=active")
        ends_at = time.monotonic() + 30
    except (OSError, ValueError, IndexError):
        stages = []
    for stage in stages:
        place = f"{application}/{stage['stageId']}"
        if place in seen or stage["numActiveTasks"] == 0:
            continue
        seen.add(place)
        name = stage.get("description", "")
        if named[name] % every == 0:
            kill_one(place, name)
        named[name] += 1
    time.sleep(0.05)
results.write_text(json.dumps({"stages": len(seen), "killed": Counter(one["name"] for one in killed), "places": killed}))
