"""Labels of Google Cloud resources, for billing: what the cloud takes."""

import re

import pulumi

from pulumi_dra.inputs import InputReader

MOST = 60
"""Google Cloud takes 64 on a resource; the components and GKE add their own."""


def read_resource_labels(read: InputReader, key: str) -> dict[str, pulumi.Input[str]]:
    """Return a map of labels (Resource Manager, “Requirements for labels”)."""
    return read.labels(key, most=MOST, check=_check)


def _check(key: str, value: str) -> str:
    if not re.fullmatch(r"[a-z][-_a-z0-9]{0,62}", key):
        return "must have a key of lower-case letters, digits, - and _ that begins with a letter, at most 63 characters"
    if not re.fullmatch(r"[-_a-z0-9]{0,63}", value):
        return f'must be lower-case letters, digits, - and _, at most 63 characters, not "{value}"'
    return ""
