"""Versions of Kueue that count the devices of claims, and the value with its configuration."""

from __future__ import annotations

import re
from typing import Final

KUEUE_VALUE: Final = "managerConfig.controllerManagerConfigYaml"
# The first version that counts the devices of claims by default. It never admits a claim whose
# DeviceClass its configuration doesn't map.
# Source: kubernetes-sigs/kueue:pkg/features/kube_features.go@ff69552 (KueueDRAIntegration)
COUNTING_CLAIMS: Final = "0.18"
_COUNTING: Final = tuple(map(int, COUNTING_CLAIMS.split(".")))


def counts_claims(version: str) -> bool:
    """Return whether a version counts claims. An unknown version is assumed to be new."""
    parts = re.match(r"v?(\d+)\.(\d+)", version)
    return parts is None or tuple(map(int, parts.groups())) >= _COUNTING
