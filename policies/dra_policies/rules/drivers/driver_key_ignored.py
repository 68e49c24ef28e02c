"""Values that charts silently ignore: dotted keys, misspelled keys, and unknown keys."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.drivers.nvidia.chart_values import (
    DOTTED,
    IGNORED,
    NEAR,
    KeyFix,
    key_fix,
    nesting_fix,
)
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
        for key, known in _ignored(values):
            message = (
                f'{driver.title} sets "{key}" with a dotted key. {DOTTED}'
                if known.is_dotted
                else f'the chart of {driver.title} doesn\'t define the value "{key}", so this setting '
                "has no effect"
            )
            yield Finding(message=message, fix=known.fix, urn=driver.urn)
    yield from ignored_keys(view)


def _ignored(values: dict[str, Any]) -> Iterator[tuple[str, KeyFix]]:
    """Yield the keys that the chart ignores, each with a fix."""
    yield from ((key, KeyFix(IGNORED[key])) for key in values if key in IGNORED)
    yield from ((key, known) for key in values if key not in IGNORED and (known := key_fix(key)))
    for path, names in BELOW.items():
        for key in as_mapping(Properties(values).at(path)) or {}:
            first, *rest = key.split(".")
            if path in _REPLACED and key in _REPLACED[path]:
                yield f"{path}.{key}", KeyFix(_REPLACED[path][key])
                continue
            near = [] if key in names else get_close_matches(key, names, 1, NEAR)
            if rest and first in names:
                yield f"{path}.{key}", KeyFix(nesting_fix(first, rest), is_dotted=True)
            elif near:
                yield f"{path}.{key}", KeyFix(f'rename it to "{near[0]}"')


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
