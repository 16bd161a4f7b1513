"""Counts by check and by answer of a Schemathesis run, as Markdown: python3 fuzz_report.py PLAN EVENTS.ndjson"""

import json
import sys
from collections import Counter, defaultdict

plan, path = sys.argv[1:]
checks, failed = Counter(), Counter()
answers, statuses = defaultdict(Counter), set()
failures, run = [], {}
with open(path, encoding="utf8") as events:
    for line in events:
        event, body = next(iter(json.loads(line).items()))
        if event in ("Initialize", "EngineFinished"):
            run.update(body)
        recorder = body.get("recorder", {}) if event == "ScenarioFinished" else {}
        for case, results in recorder.get("checks", {}).items():
            for check in results:
                checks[check["name"]] += 1
                if check["status"] == "failure":
                    failed[check["name"]] += 1
                    failures.append(f"{recorder['label']}, case {case}: {check['name']}")
        for case, interaction in recorder.get("interactions", {}).items():
            endpoint = recorder["cases"][case]["value"]
            template = recorder["label"] if recorder["label"].startswith("GET ") else f"{endpoint['method']} {endpoint['path']}"
            status = (interaction.get("response") or {}).get("status_code", "none")
            answers[template][status] += 1
            statuses.add(status)

cases = sum(sum(counts.values()) for counts in answers.values())
print(f"## Plan {plan}\n")
print(
    f"Schemathesis {run['schemathesis_version']}, seed {run['seed']}: {cases:,} requests in {run['running_time']:.0f} s, "
    f"{sum(checks.values()):,} checks, {sum(failed.values())} failed.\n"
)
print("| check | cases | failed |\n| --- | --- | --- |")
for name, count in checks.most_common():
    print(f"| {name} | {count:,} | {failed[name]} |")
columns = sorted(statuses, key=str)
print("\n| endpoint | " + " | ".join(map(str, columns)) + " |\n| --- |" + " --- |" * len(columns))
for template in sorted(answers):
    print(f"| {template} | " + " | ".join(f"{answers[template][status]:,}" for status in columns) + " |")
print()
for failure in failures[:50]:
    print(f"- {failure}")
