"""Change stacks of this repository one setting at a time, with the real engine on simulated clouds.

    python conformance/day_two/run.py               all changes and options of all clouds
    python conformance/day_two/run.py --cloud eks   the changes and options of one cloud

`<cloud>.yaml` lists changes and options. For a change, the preview must replace exactly the listed
resources, and other resources only because they depend on these. The list follows from the source
of the provider, not from the simulated cloud. Options are switched on, off, on, and off again, each
time with `up`. Without the options, the state and the cloud must be the same as before. With the
options, they must be the same as the first time.
"""

from __future__ import annotations

import argparse
import re
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

COUNTED = (
    "latestVersion",
    "launchTemplate.version",
    "etag",
    "eTag",
    "metadata.resourceVersion",
    "status.revision",
)
"""Properties that count updates, so they differ after an option is switched on and off."""
_GENERATED = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|AROA[0-9A-F]+|-[0-9a-f]{17}(?![0-9a-f])"
    r"|[0-9a-f]{7,8}(?![0-9a-f])"
)
"""The part of a name or ID that is random, so it differs when a resource is created again."""


def main() -> int:
    """Run the changes and options. Return 1 if the effect of one differs from its row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cloud", action="append", default=[], choices=names())
    parser.add_argument("--only", choices=("changes", "options"))
    values = parser.parse_args()
    wrong = [line for cloud in values.cloud or names() for line in _of_cloud(cloud, values.only)]
    return int(bool(wrong))


def _of_cloud(cloud: str, only: str | None) -> list[str]:
    """Run the changes and options of a cloud's stack. Print and return their effects that differ
    from their rows.
    """
    rows = yaml.safe_load((HERE / f"{cloud}.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        stack = Journey(Path(scratch), rows["stack"])
        _set(stack.config, rows.get("before", {}))
        stack.write(nodes=1)
        stack.up()
        wrong: list[str] = []
        if only != "options":
            wrong += [
                f"{row['change']}: {difference}"
                for row in rows["changes"]
                for difference in _change(stack, row)
            ]
            print(
                f"{cloud}: {len(rows['changes'])} changes, {len(wrong)} with another effect",
                flush=True,
            )
        if only != "changes":
            found = list(_options(stack, rows["options"]))
            count = sum(map(len, rows["options"]))
            print(f"{cloud}: {count} options, {len(found)} differences", flush=True)
            wrong += found
    for line in wrong:
        print(f"  {cloud}: {line}", flush=True)
    return wrong


def _change(stack: Journey, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences between a preview of the change and its row."""
    preview = stack.preview_of(lambda config: _set(config, row["set"]), nodes=1)
    if not preview.ok:
        yield f"the preview failed: {preview.output[-600:]}"
        return
    steps = [step for step in preview.steps if step.op not in ("same", "read")]
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
    """Return the resources that depend on replaced resources, directly or indirectly, because they
    refer to a cluster or namespace that is replaced.
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


def _options(stack: Journey, groups: list[list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the values that remain after the options of a group are switched off, and the values
    that are missing after the options are switched on again.
    """
    for group in groups:
        seen = [_seen(stack)]
        for on in (True, False, True, False):
            for option in group:
                off = {**dict.fromkeys(option["with"]), **option.get("without", {})}
                _set(stack.config, option["with"] if on else off)
            stack.write(nodes=1)
            done = stack.engine.up(stack.stack, skip_preview=True)
            if not done.ok:
                yield f"{'on' if on else 'off'}: {done.output[-1500:]}"
                return
            seen.append(_seen(stack))
        for first, later, when in ((0, 2, "off"), (1, 3, "on again"), (2, 4, "off again")):
            yield from (f"{when}: {each}" for each in _differences(seen[first], seen[later]))


def _seen(stack: Journey) -> dict[str, Any]:
    """Return the inputs of every resource in the state, and the cloud's resources, by path."""
    found = {}
    for each in stack.engine.resources(stack.stack, show_secrets=True):
        if not each["type"].startswith(("pulumi:", "pulumi-dra:")):
            label = _label(each["urn"])
            found.update(_leaves(each.get("inputs", {}), f"state {label}: "))
            found.update(_leaves(each.get("outputs", {}), f"cloud {label}: "))
    return found


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            if name not in ("__defaults", "__inputs", "id"):
                yield from _leaves(
                    member, f"{path}.{name}" if path[-2:] != ": " else f"{path}{name}"
                )
    elif isinstance(value, list) and value:
        for index, member in enumerate(value):
            yield from _leaves(member, f"{path}[{index}]")
    elif value not in (None, "", {}, []):
        yield path, value


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [
        f"{path}: {before.get(path)!r}, now {after.get(path)!r}"
        for path in sorted({*before, *after})
        if _fixed(before.get(path)) != _fixed(after.get(path)) and not path.endswith(COUNTED)
    ]


def _fixed(value: Any) -> Any:
    """Return a value without its random part."""
    return _GENERATED.sub("*", value) if isinstance(value, str) else value


def _set(config: dict[str, Any], values: Mapping[str, Any]) -> None:
    for path, value in values.items():
        put(config, path.split("/"), value)


def put(config: dict[str, Any], keys: list[str], value: Any) -> None:
    """Set a value in the stack's settings. Elements of a list are found by name."""
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
    if value is None:
        here.pop(last, None)
    else:
        here[last] = value


def _label(urn: str) -> str:
    """Return the name of a resource in the graph of a stack, such as "NodeGroup dra-l4-nodes"."""
    kind, _, name = urn.rpartition("::")
    return f"{kind.rpartition(':')[2]} {name}"


if __name__ == "__main__":
    sys.exit(main())
