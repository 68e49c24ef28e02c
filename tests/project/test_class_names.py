"""One public class for each name. The names that are still shared are listed, and the list can only become shorter."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("planner", "policies", "components", "command", "sandbox", "tutorials")
UNIQUE = ("command", "tutorials")
SHARED = frozenset(
    [
        "Builder",
        "Capacity",
        "Change",
        "Configuration",
        "DevicePlugin",
        "Difference",
        "Document",
        "DraDriver",
        "Dranet",
        "DriverSettings",
        "Explanation",
        "Failure",
        "Kind",
        "KubernetesObject",
        "Library",
        "Load",
        "ManifestError",
        "Node",
        "NodeNeeds",
        "NodeSettings",
        "ObjectKey",
        "OnePeriod",
        "Order",
        "Outcome",
        "Part",
        "Place",
        "Placement",
        "Plan",
        "Pool",
        "PoolNodes",
        "PoolPlace",
        "PoolSchedule",
        "Proof",
        "Published",
        "Ranges",
        "Refusal",
        "Refused",
        "Repair",
        "Request",
        "Resource",
        "Row",
        "Rule",
        "Rules",
        "Scenario",
        "Sharing",
        "Source",
        "Stage",
        "Standing",
        "Stop",
        "Taken",
        "Term",
        "Type",
        "Unresolved",
        "WeeklyHours",
        "WorkloadOutcome",
        "WorkloadRow",
    ]
)
"""Names that two or more classes still share. Rename one of them, then remove the name here."""


def public_classes() -> dict[str, list[str]]:
    """Return the files of each public class by its name."""
    found = defaultdict[str, list[str]](list)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_one_name_is_one_class() -> None:
    shared = {name: files for name, files in public_classes().items() if len(files) > 1}
    assert {name: files for name, files in shared.items() if any(file.startswith(UNIQUE) for file in files)} == {}


def test_no_further_name_is_shared() -> None:
    assert {name for name, files in public_classes().items() if len(files) > 1} == SHARED
