"""Write the table `chart_values`: the keys that charts read from their values.

    python conformance/chart_values/run.py FOLDER            report differences
    python conformance/chart_values/run.py FOLDER --write    write the table

FOLDER contains a folder for each chart in `CHARTS`, with its `values.yaml` and `templates`. The
keys of a mapping are the keys in `values.yaml` and the keys that templates read. If a template
copies a whole mapping or iterates over it, the mapping can have any keys, so it gets no row.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TABLE = Path(__file__).parents[2] / "planner/dra_planner/data/chart_values.csv"
COLUMNS = ("chart", "path", "keys", "version", "only_with", "source")
# chart → version, type that distinguishes it from other charts with this name, and source
CHARTS = {
    "aws-vpc-cni": ("1.22.4", "", "vpc-cni-schema"),
    "gpu-operator": ("26.7.0", "", "gpu-operator-chart"),
    "karpenter": ("1.14.1", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", "karpenter-chart"),
    "kueue": ("0.19.2", "", "kueue-chart"),
}
# Helm and subcharts read these keys.
_OF_HELM = ("global", "tags")
_REFERENCE = re.compile(r"\.Values((?:\.\w+)+)")
_WHOLE = re.compile(r"toYaml|toJson|range|with|include|tpl|merge|:=|omit|dict")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for chart, described in CHARTS.items():
        for path, keys in sorted(chart_keys(arguments.folder / chart)):
            table.writerow((chart, path, " ".join(sorted(keys)), *described))
    if arguments.write:
        TABLE.write_text(text.getvalue(), encoding="utf-8")
        return 0
    differs = text.getvalue() != TABLE.read_text(encoding="utf-8")
    print("the table differs" if differs else "the table agrees with the charts")
    return int(differs)


def chart_keys(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the path and keys of each mapping in a chart's values whose keys are fixed."""
    values = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8"))
    chart = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    subcharts = {each["name"] for each in chart.get("dependencies") or ()}
    read: dict[str, set[str]] = {}
    copied: set[str] = set()
    for file in sorted((folder / "templates").rglob("*")):
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            for found in _REFERENCE.finditer(line):
                steps = found[1].removeprefix(".").split(".")
                for at, step in enumerate(steps):
                    read.setdefault(".".join(steps[:at]), set()).add(step)
                if _WHOLE.search(line):
                    copied.add(".".join(steps))
    yield from _keys(values, "", read, copied, subcharts)


def _keys(
    values: dict[str, Any],
    path: str,
    read: dict[str, set[str]],
    copied: set[str],
    subcharts: set[str],
) -> Iterator[tuple[str, set[str]]]:
    if path in copied or path in subcharts:
        return
    known = {*values, *read.get(path, ()), *(_OF_HELM if not path else ())}
    yield path, known | (subcharts if not path else set())
    for name, below in values.items():
        here = f"{path}.{name}".removeprefix(".")
        if isinstance(below, dict) and (below or read.get(here)):
            yield from _keys(below, here, read, copied, subcharts)


if __name__ == "__main__":
    sys.exit(main())
