"""Kills workers of a cluster while an application runs: kill_workers.py <folder of cluster.sh> <every> <results file>.

Watches the stages of the application. In every so many-th stage it ends one executor and then a worker, as a machine that is
lost, and starts another worker. Ends when the application does, and writes how many it killed."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import urllib.request

folder, every = pathlib.Path(sys.argv[1]), int(sys.argv[2])
UI = "http://127.0.0.1:4040/api/v1/applications"
chance = random.Random(7)
seen, killed, missed = set(), [], 0


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


def kill_one(stage):
    workers = [int(line) for line in (folder / "workers").read_text().split()]
    alive = [pid for pid in workers if pathlib.Path(f"/proc/{pid}").exists()]
    worker = chance.choice(alive)
    executors = list(find_children(worker))
    # The worker first: it would tell the master, and a machine that is lost can't.
    for pid in [worker, *executors]:
        os.kill(pid, signal.SIGKILL)
    killed.append({"stage": stage, "executors": len(executors)})
    subprocess.run([str(pathlib.Path(__file__).parent / "cluster.sh"), "worker", str(folder)], check=True)


while missed < 60:
    try:
        application = ask(UI)[0]["id"]
        stages = ask(f"{UI}/{application}/stages?status=active")
        missed = 0
    except (OSError, ValueError, IndexError):
        missed = missed + 1 if seen else 0
        stages = []
    for stage in stages:
        place = f"{application}/{stage['stageId']}"
        if place in seen or stage["numActiveTasks"] == 0:
            continue
        seen.add(place)
        if len(seen) % every == 0:
            kill_one(place)
    time.sleep(0.05)
pathlib.Path(sys.argv[3]).write_text(json.dumps({"stages": len(seen), "killed": killed}))
