"""Compare the messages about claims in upstream's scheduler, controllers, and kubelet with the
messages that `explain` recognizes.

    python conformance/messages/upstream.py           print the texts in the sources that aren't
                                                      recorded
    python conformance/messages/upstream.py --write   record them, either with the message that
                                                      contains them, or as not recognized

The command reads the Go sources of every minor version in the module cache. To download them, run
`go mod download` in sandbox/dra_sandbox/tools/modules.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import yaml

from dra_planner.catalog.messages import messages

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "planner" / "catalog" / "upstream_messages.yaml"
FOLDERS = (
    "kubernetes@*/pkg/scheduler/framework/plugins/dynamicresources",
    "kubernetes@*/pkg/controller/resourceclaim",
    "kubernetes@*/pkg/kubelet/cm/dra",
    "dynamic-resource-allocation@*/structured",
    "dynamic-resource-allocation@*/resourceclaim",
    "dynamic-resource-allocation@*/cel",
)
CALL = re.compile(
    r"(?:fmt\.Errorf|errors\.New|status\w*|\w*\.NewStatus|AsStatus|Eventf?|Sprintf)\("
)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`')
VERB = re.compile(r"%[-+#0-9.]*[a-zA-Z]")
FILLED = {"d": "32", "q": '"x"'}
PREFIX, INTERNAL = (
    "begin another message",
    "are of logs, or tell a fault of the program that says them",
)
_SHORTEST = 9  # characters


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    recorded = yaml.safe_load(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    known = {text for group in recorded.values() for text in group}
    new = sorted(set(texts()) - known)
    for text in new:
        print(text)
        recorded.setdefault(_group(text), []).append(text)
    if write:
        ordered = {key: sorted(recorded[key]) for key in sorted(recorded)}
        RECORD.write_text(
            yaml.safe_dump(ordered, width=1000, allow_unicode=True, sort_keys=False),
            encoding="utf-8",
        )
    return int(bool(new) and not write)


def texts() -> Iterator[str]:
    """Yield the format strings of returned errors, statuses, and events."""
    cache = subprocess.run(
        ["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True
    ).stdout.strip()
    for folder in FOLDERS:
        for path in sorted(Path(cache, "k8s.io").glob(f"{folder}/**/*.go")):
            if not path.name.endswith("_test.go") and "allocatortesting" not in path.parts:
                yield from _texts(path.read_text(encoding="utf-8"))


def _texts(source: str) -> Iterator[str]:
    for call in CALL.finditer(source):
        first = STRING.search(source, call.end(), call.end() + 300)
        text = (first[1] or first[2] or "") if first else ""
        if (
            len(text) >= _SHORTEST
            and " " in text
            and "\n" not in source[call.end() : first.start() if first else 0]
        ):
            yield text.replace('\\"', '"')


def filled(text: str) -> str:
    """Return a text in which a value replaces every format verb."""
    return VERB.sub(lambda verb: FILLED.get(verb[0][-1], "x"), text)


def _group(text: str) -> str:
    message_id = next(
        (message.id for message in messages() if message.pattern.search(filled(text))), ""
    )
    return message_id or (PREFIX if re.search(r": %[wvs]$", text) else INTERNAL)


if __name__ == "__main__":
    raise SystemExit(main())
