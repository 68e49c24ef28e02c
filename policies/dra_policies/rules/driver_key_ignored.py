"""Values that the driver's chart ignores without a word: dotted keys, and keys with a slip of the pen."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView
from dra_policies.unknowns import as_mapping

# Top-level keys of all releases.
# Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.0 to v0.4.1 and 95932046
KEYS: Final = (
    "allowDefaultNamespace", "altProcDevices", "consumableShares", "controller", "featureGates", "fullnameOverride",
    "gpuResourcesEnabledOverride", "image", "imagePullSecrets", "kubeletPlugin", "logVerbosity", "nameOverride",
    "namespaceOverride", "nvidiaCDIHookPath", "nvidiaDriverRoot", "resourceApiVersion", "resources",
    "selectorLabelsOverride", "serviceAccount", "webhook",
)  # fmt: skip
NEAR: Final = 0.8  # how alike a key must be to be taken for a slip: other unknown keys may be meant for others


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        for key in as_mapping(driver.values.values if driver.values else None) or {}:
            meant = _meant(key)
            if meant:
                yield Finding(
                    message=f'{driver.title}: its chart has no value "{key}", and ignores it',
                    fix=f"write {meant}",
                    urn=driver.urn,
                )


def _meant(key: str) -> str:
    """Return how a key should be written, "" where nothing says that it is wrong."""
    first, *rest = key.split(".")
    if rest and first in KEYS:
        return f"it nested: {first}: {{{': {'.join(rest)}: …{'}' * len(rest)}"
    near = [] if key in KEYS else get_close_matches(key, KEYS, 1, NEAR)
    return f'"{near[0]}"' if near else ""


RULE = Rule(
    id="driver-key-ignored",
    says="The driver's chart knows every value that it is given.",
    why="Helm takes unknown values without a word, so the driver runs as if they had not been written.",
    fix="Nest dotted keys, and spell keys as the chart does.",
    level="advisory",
    check=check,
)
