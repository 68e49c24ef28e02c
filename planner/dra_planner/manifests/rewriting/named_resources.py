"""Convert selectors of Kubernetes 1.30's structured parameters to v1.

In 1.30, every device had flat attributes with one map per type: `attributes.quantity["memory"]`. In
v1, attributes belong to a domain, and quantities are capacities:
`device.capacity["gpu.example.com"].memory`. Source:
kubernetes/api:resource/v1alpha2/namedresources.go@v0.30.14.
"""

from __future__ import annotations

import re
from typing import Final

from dra_planner.drivers import nvidia
from dra_planner.manifests.rewriting import replacement_examples
from dra_planner.manifests.rewriting.old_forms import NotConvertible

_TOKEN: Final = re.compile(
    r"""(?P<text>r?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
    r"""|(?<![\w.])attributes\s*\.\s*(?P<type>\w+)"""
    r"""(?:\s*\[\s*(?P<quoted>"[^"\\]*"|'[^'\\]*')\s*\]|\s*\.\s*(?P<field>[A-Za-z_]\w*)(?!\w*\s*\())?"""
    r"""|(?P<other>(?<![\w.])attributes\b)"""
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_IN_CAPACITY: Final = frozenset({"quantity"})
_IN_ATTRIBUTES: Final = frozenset({"bool", "int", "string", "version"})
_NVIDIA: Final = {
    "uuid": "uuid",
    "memory": "memory",
    "product-name": "productName",
    "brand": "brand",
    "architecture": "architecture",
    "cuda-compute-capability": "cudaComputeCapability",
    "driver-version": "driverVersion",
    "cuda-driver-version": "cudaDriverVersion",
}
"""Source: kubernetes-sigs/dra-driver-nvidia-gpu
(api/nvidia.com/resource/gpu/v1alpha1/gpuselector.go@dc531f3a).
"""


def rewrite_selector(expression: str, driver: str) -> str:
    """Return the selector for devices of this driver, with the driver's current name. Raises
    NotConvertible.
    """
    return _TOKEN.sub(lambda match: _replace(match, expression, driver), expression)


def _replace(match: re.Match[str], expression: str, driver: str) -> str:
    if match["text"] is not None:
        return match[0]
    kind, name = match["type"], match["field"] or (match["quoted"] or "")[1:-1]
    if match["other"] is not None or kind not in _IN_CAPACITY | _IN_ATTRIBUTES:
        raise NotConvertible(
            f"v1 can't express `{match[0]}` in the selector `{expression}`",
            replacement_examples.CLAIM,
        )
    values = "device.capacity" if kind in _IN_CAPACITY else "device.attributes"
    if not name:
        return f'{values}["{driver}"]'
    domain, _, identifier = name.rpartition("/")
    if driver == nvidia.GPU_DRIVER and not domain:
        identifier = _NVIDIA.get(name, "" if "-" in name or name == "index" else name)
    if not _IDENTIFIER.fullmatch(identifier):
        raise NotConvertible(
            f'`{match[0]}`: no current driver publishes an attribute "{name}", so v1 can\'t '
            f"express the selector `{expression}`",
            replacement_examples.CLAIM,
        )
    return f'{values}["{domain or driver}"].{identifier}'
