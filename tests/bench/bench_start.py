"""CPU seconds of a cold start of the command, compared with interpreters that load only the
required packages.

python tests/bench/bench_start.py [runs]

Each row is the minimum of this number of runs. The rows take turns, so that other work on the
machine affects all rows equally. Ratios are relative to the second row: an interpreter that reads
YAML and validates one model.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = """
import os; os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
import argparse, json, yaml
from pydantic import BaseModel
class Named(BaseModel):
    name: str
Named.model_validate(yaml.load("name: one", yaml.CSafeLoader))
"""
COMMAND = "import sys; from dra_command.__main__ import main; sys.exit(main())"
ROWS = {
    "an interpreter": ["pass"],
    "and YAML, one model": [LIBRARIES],
    "--help": [COMMAND, "--help"],
    "check examples/workloads": [COMMAND, "check", "examples/workloads"],
    "explain --claim": [COMMAND, "explain", "--claim", "at-least-40-gb-gpu", "--stack", "eks-dev"],
    "plan examples/workloads": [COMMAND, "plan", "examples/workloads", "--stack", "eks-dev"],
}


def cpu_seconds(words: list[str]) -> float:
    """Return the CPU seconds, of user and system, of one interpreter that runs the code."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        [sys.executable, "-c", *words], cwd=ROOT, env=env, stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {words}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for words in ROWS.values():
        cpu_seconds(words)  # writes bytecode
    taken = {name: float("inf") for name in ROWS}
    for _ in range(runs):
        for name, words in ROWS.items():
            taken[name] = min(taken[name], cpu_seconds(words))
    least = taken["and YAML, one model"]
    for name, seconds in taken.items():
        print(f"{name:<26} {seconds:6.3f} s  {seconds / least:5.2f} times")


if __name__ == "__main__":
    main()
