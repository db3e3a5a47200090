#!/usr/bin/env python3
"""summarize.py FAULTLINE RECORDING: what all processes of a recording did, on two models, as JSON on standard output.

Exit status 1, and lines on standard error, where a model gives another result than was recorded."""
import json
import os
import pathlib
import subprocess
import sys

MODELS = ["model:5.10", "model:6.18"]
PROTECTION_CALLS = ("mprotect", "pkey_mprotect")


def report(faultline, recording, process, model):
    name = f"{recording}:{process}" if process else recording
    command = [faultline, "report", name, "--on", model, "--json", "-", "--time-limit", "600"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    faultline, recording = sys.argv[1:3]
    first = report(faultline, recording, None, MODELS[0])
    summary = {
        "program": first["path"],
        "bytes": os.stat(recording).st_size,
        "processes": len(first["processes"]),
        "memory_calls": sum(p["memory_calls"] for p in first["processes"]),
        "touches": sum(p["touches"] for p in first["processes"]),
        "forks": sum(p["forks"] for p in first["processes"]),
        "protection_calls": 0,
        "faults": {},
        "write_upgrades": {},
        "protection_changes": [],
        "most_vmas": 0,
        "notes": sorted({note for note in first["notes"]}),
    }
    changes = {}
    different = 0
    for model in MODELS:
        faults = upgrades = 0
        for process in first["processes"]:
            told = report(faultline, recording, process["id"], model)
            faults += told["counted"].get("minor_faults", 0)
            upgrades += told["counted"].get("fault_reuse", 0)
            where = f"{recording}:{process['id']} on {model}"
            if told["results"]["differ"] > 0 or not told["completed"]:
                different += 1
                ending = "" if told["completed"] else ", and the run did not complete"
                print(f"{where}: {told['results']['differ']} results differ{ending}", file=sys.stderr)
            if model != MODELS[-1]:
                continue
            for call in told["calls"]:
                if call["call"] in PROTECTION_CALLS:
                    summary["protection_calls"] += call["calls"]
            for point in told["vmas"]["points"]:
                summary["most_vmas"] = max(summary["most_vmas"], point[1])
            for change in told["protection_changes"]:
                key = (change["pages_from"], change["present_from"], change["before"], change["after"])
                changes[key] = changes.get(key, 0) + change["times"]
        summary["faults"][model] = faults
        summary["write_upgrades"][model] = upgrades
    summary["protection_changes"] = [
        {"pages_from": k[0], "present_from": k[1], "before": k[2], "after": k[3], "times": v}
        for k, v in sorted(changes.items(), key=lambda item: [-1 if x is None else x for x in item[0]])
    ]
    native = pathlib.Path(recording).with_suffix(".native")
    summary["native_faults"] = int(native.read_text()) if native.exists() else None
    json.dump(summary, sys.stdout, indent=1)
    print()
    return 1 if different else 0


sys.exit(main())
