"""Runs pieces of a run of pricelake as Spark tasks. `pricelake sync` submits it, where the pipeline file has engine.spark.

    spark-submit run_tasks.py SOCKET COMMAND…

Takes a task a line from the socket, {"id", "name", "task"}, and gives {"id", "answer"} or {"id", "fault"} back. Each is a Spark
task of its own, with its name in Spark's pages: Spark chooses the machine, and tries again elsewhere if one is lost. There, COMMAND reads the task on stdin and
prints its answer. What a task says is none of this program's business. It ends when the socket does."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

# Tasks that Spark may have at once. More of them wait here.
MOST_TASKS = 512
MOST_BYTES = 64 * 1024 * 1024
TAIL_BYTES = 4_000
STOP_SECONDS = 15


def work(command, task):
    """On a machine of the cluster: does one task. Raises if the worker ended without an answer, so that Spark tries again."""
    # Spark's own disk has room, and Spark empties it when the executor ends.
    disks = os.environ.get("SPARK_LOCAL_DIRS", "")
    environment = {**os.environ, **({"TMPDIR": disks.split(",")[0]} if disks else {})}
    with tempfile.TemporaryFile() as errors:
        # Its stdin stays open: where this process is killed, the worker sees its end, and ends too.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment)
        try:
            try:
                process.stdin.write(task.encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # it says why on stderr
            answer = process.stdout.read(MOST_BYTES + 1)
            if len(answer) <= MOST_BYTES and process.wait() == 0:
                return answer.decode()
            process.kill()
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - TAIL_BYTES))
            raise RuntimeError(f"{command[0]} on {socket.gethostname()} ended with {process.wait()}: {errors.read().decode(errors='replace')}")
        finally:
            process.kill()
            process.wait()


def run(context, command, line, give):
    """In a thread of its own: has Spark do one task."""
    request = json.loads(line)
    task = request["task"]
    try:
        context.setJobDescription(request["name"])  # of this thread
        [answer] = context.parallelize([task], 1).map(lambda one: work(command, one)).collect()
        give({"id": request["id"], "answer": answer})
    except Exception as error:  # Spark has tried often enough, or is gone
        give({"id": request["id"], "fault": str(error)[-TAIL_BYTES:]})


def main():
    address, *command = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(address)
        from pyspark import SparkContext

        context = SparkContext(appName="pricelake")
        context.setLogLevel("ERROR")
        lock = threading.Lock()

        def give(answer):
            with lock:
                link.sendall(json.dumps(answer).encode() + b"\n")

        pool = ThreadPoolExecutor(MOST_TASKS)
        for line in link.makefile("r", encoding="utf-8", newline="\n"):
            pool.submit(run, context, command, line, give)
    # Nobody waits for what is under way. A cluster that doesn't answer must not keep this process.
    ending = threading.Thread(target=context.stop, daemon=True)
    ending.start()
    ending.join(STOP_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main()
