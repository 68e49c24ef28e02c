"""Tags of AWS: what the cloud takes."""

import pulumi

from pulumi_dra.inputs import InputReader

MOST = 45
"""AWS takes 50 on a resource; the components and EKS add their own."""


def read_tags(read: InputReader, key: str = "tags") -> dict[str, pulumi.Input[str]]:
    """Return the input `tags`, or another of that kind (EC2 user guide, “Tag restrictions”)."""
    return read.labels(key, most=MOST, check=_check)


def _check(key: str, value: str) -> str:
    if not 1 <= len(key) <= 128:
        return "must have a key of 1 to 128 characters"
    if key.lower().startswith("aws:"):
        return "must not begin with aws:, which is AWS' own"
    return "" if len(value) <= 256 else f"must have at most 256 characters, not {len(value)}"
