"""Change stacks of this repository one setting at a time, through the real engine on simulated
clouds.

    python conformance/day_two/run.py                   all changes of all clouds
    python conformance/day_two/run.py --cloud eks       those of one cloud

`<cloud>.yaml` holds the changes. A preview must replace exactly the listed resources, and others
only because they depend on these. The list follows from the source of the provider, not from the
simulated cloud.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dra_planner.clouds import names

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "program"))

from conftest import Journey  # noqa: E402  # of the tests, which take stacks through the engine too


def main() -> int:
    """Run the changes; return 1 if one has another effect than its row says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cloud", action="append", default=[], choices=names())
    values = parser.parse_args()
    wrong = [line for cloud in values.cloud or names() for line in _of_cloud(cloud)]
    return int(bool(wrong))


def _of_cloud(cloud: str) -> list[str]:
    """Print and return what changes of a cloud's stack do other than their rows say."""
    rows = yaml.safe_load((HERE / f"{cloud}.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        stack = Journey(Path(scratch), rows["stack"])
        stack.write(nodes=1)
        stack.up()
        wrong = [
            f"{row['change']}: {says}" for row in rows["changes"] for says in _change(stack, row)
        ]
    print(f"{cloud}: {len(rows['changes'])} changes, {len(wrong)} with another effect", flush=True)
    for line in wrong:
        print(f"  {cloud}: {line}", flush=True)
    return wrong


def _change(stack: Journey, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a preview of the change does other than the row says."""
    told = stack.preview_of(lambda config: _set(config, row["set"]), nodes=1)
    if not told.ok:
        yield f"the preview failed: {told.output[-600:]}"
        return
    steps = [step for step in told.steps if step.op not in ("same", "read")]
    if not [step for step in steps if step.name != "dra-plan"]:
        yield "changes nothing"
    replaced = {_label(step.urn) for step in steps if "replace" in step.op}
    expected = set(row.get("replaces", ()))
    for label in sorted(expected - replaced):
        yield f"isn't replaced: {label}"
    followers = _dependents(stack, expected & replaced)
    for label in sorted(replaced - expected - followers):
        keys = {key for step in steps if _label(step.urn) == label for key in step.replace_keys}
        yield f"is replaced: {label} ({', '.join(sorted(keys))})"


def _dependents(stack: Journey, replaced: set[str]) -> set[str]:
    """Return the resources that depend on replaced ones, also through others: they name a cluster
    or a namespace that is another one then.
    """
    resources = stack.engine.resources(stack.stack)
    found = set(replaced)
    while True:
        more = {
            _label(each["urn"])
            for each in resources
            if any(
                _label(urn) in found
                for urn in [*each.get("dependencies", []), _provider(each), each.get("parent", "")]
            )
        }
        if more <= found:
            return found
        found |= more


def _provider(resource: Mapping[str, Any]) -> str:
    return str(resource.get("provider", "")).rpartition("::")[0]


def _set(config: dict[str, Any], values: Mapping[str, Any]) -> None:
    for path, value in values.items():
        put(config, path.split("/"), value)


def put(config: dict[str, Any], keys: list[str], value: Any) -> None:
    """Set a value of the stack's settings; elements of a list are found by name."""
    here: Any = (
        config.setdefault(f"pulumi-dra:{keys[0]}", {})
        if keys[0] in ("fleet", "platform")
        else config
    )
    *parents, last = keys[1:] if here is not config else keys
    for key in parents:
        if isinstance(here, list):
            found = [each for each in here if each["name"] == key]
            if not found:
                here.append({"name": key})
            here = found[0] if found else here[-1]
        else:
            here = here.setdefault(key, [] if key == "pools" else {})
    here[last] = value


def _label(urn: str) -> str:
    """Return a resource as the graphs of stacks name it: "NodeGroup dra-l4-nodes"."""
    kind, _, name = urn.rpartition("::")
    return f"{kind.rpartition(':')[2]} {name}"


if __name__ == "__main__":
    sys.exit(main())
