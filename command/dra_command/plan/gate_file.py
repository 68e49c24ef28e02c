"""Admission policies and quotas that keep a cluster within its plan, as a file for `kubectl apply`
or a GitOps tool.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dra_command.command_line.file_writer import write_whole
from dra_command.command_line.yaml_text import yaml_documents
from dra_planner.errors import PlannerError
from dra_planner.plan import Plan, plan_file
from dra_planner.planfile.admission_gate import admission_gate

_HEAD: Final = """\
# Written by `pulumi-dra plan --gate`. After each change to the plan, write this file again and apply it to the cluster.
# Claims must use a DeviceClass in the plan, device plugins must not run on DRA nodes, and each namespace can request
# only as many devices as its workloads need at their maximum.
"""


def write_gate(path: Path, plan: Plan) -> str:
    """Write the file, and return a sentence about it. Raises PlannerError if the file can't be
    written.
    """
    write_whole(path, _text(plan), PlannerError)
    return f"wrote {path}. To apply it, run `kubectl apply -f {path}`"


def stale_gate(path: Path, plan: Plan) -> str:
    """Return why a saved file doesn't match the plan, "" if it does."""
    if not path.is_file():
        return f"{path} doesn't exist; create it with --gate {path} without --check"
    if path.read_text(encoding="utf-8", errors="replace") == _text(plan):
        return ""
    return f"{path} differs from the plan; write it again with --gate {path} without --check"


def _text(plan: Plan) -> str:
    return _HEAD + yaml_documents(admission_gate(plan_file(plan)))
