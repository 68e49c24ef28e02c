"""Values that charts silently ignore: dotted keys, misspelled keys, and unknown keys."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.drivers.nvidia.chart_values import IGNORED, NEAR, key_fix, nesting_fix
from dra_policies.rules.drivers.chart_keys import ignored_keys
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import Properties, as_mapping
from dra_policies.view.stack_view import StackView

# The keys below some values in all versions. Keys at deeper levels belong to Kubernetes.
BELOW: Final = {
    "resources": ("computeDomains", "gpus"),
    "resources.gpus": ("enabled",),
    "resources.computeDomains": ("enabled", "imex"),
    "kubeletPlugin": (
        "affinity",
        "containers",
        "kubeletPluginsDirectoryPath",
        "kubeletRegistrarDirectoryPath",
        "metrics",
        "networkPolicy",
        "nodeSelector",
        "podAnnotations",
        "podSecurityContext",
        "priorityClassName",
        "tolerations",
        "updateStrategy",
    ),
    "kubeletPlugin.containers": ("computeDomains", "gpus", "init"),
    "controller": (
        "affinity",
        "containers",
        "leaderElection",
        "metrics",
        "networkPolicy",
        "nodeSelector",
        "podAnnotations",
        "podSecurityContext",
        "priorityClassName",
        "replicas",
        "tolerations",
        "updateStrategy",
    ),
}

# Source:
# kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/k8s-dra-driver/values.yaml@dc531f3a, the
# chart of 2024.
_REPLACED: Final = {
    "kubeletPlugin.containers": {"plugin": 'use "gpus" and "computeDomains" instead of "plugin"'}
}


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        values = as_mapping(driver.values.values if driver.values else None) or {}
        for key, fix in _ignored(values):
            yield Finding(
                message=_message(
                    driver.title, key, is_dotted=fix.startswith("nest ") and "." in key
                ),
                fix=fix,
                urn=driver.urn,
            )
    yield from ignored_keys(view)


def _message(title: str, key: str, *, is_dotted: bool) -> str:
    if is_dotted:
        return (
            f'{title} sets "{key}" with a dotted key. Helm doesn\'t expand dotted keys '
            "in values, so this setting has no effect"
        )
    return f'the chart of {title} doesn\'t define the value "{key}", so this setting has no effect'


def _ignored(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys that the chart ignores, each with a fix."""
    yield from ((key, IGNORED[key]) for key in values if key in IGNORED)
    yield from ((key, fix) for key in values if key not in IGNORED and (fix := key_fix(key)))
    for path, known in BELOW.items():
        for key in as_mapping(Properties(values).at(path)) or {}:
            first, *rest = key.split(".")
            if path in _REPLACED and key in _REPLACED[path]:
                yield f"{path}.{key}", _REPLACED[path][key]
                continue
            near = [] if key in known else get_close_matches(key, known, 1, NEAR)
            if rest and first in known:
                yield (
                    f"{path}.{key}",
                    nesting_fix(first, rest),
                )
            elif near:
                yield f"{path}.{key}", f'rename it to "{near[0]}"'


RULE = Rule(
    id="driver-key-ignored",
    description="A chart ignores one of the release's values.",
    why="Helm accepts unknown values without an error, so the driver or controller runs without "
    "the setting.",
    fix="Replace dotted keys with nested keys, and use the chart's spelling.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
