"""Names and tags that AWS accepts."""

import unicodedata

import pulumi

from pulumi_dra.inputs.reader import InputReader

NODE_GROUP_NAME, ROLE_NAME = 63, 64
"""Characters in the names of node groups and roles (EKS and IAM API references)."""
NODE_GROUP_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}"  # EKS API reference, CreateNodegroup
LAUNCH_TEMPLATE_PATTERN = r"[A-Za-z0-9().\-/_]{3,128}"  # EC2 API reference, CreateLaunchTemplate
MOST = 45
"""AWS allows 50 tags per resource, and the components and EKS add their own."""
_OF_ROLES = "_.:/=+-@"


def read_tags(read: InputReader, key: str = "tags") -> dict[str, pulumi.Input[str]]:
    """Return the input `tags`, or another of that kind (EC2 user guide, “Tag restrictions”)."""
    return read.labels(key, most=MOST, check=_check)


def read_role_tags(read: InputReader) -> dict[str, pulumi.Input[str]]:
    """Return `tags` that also apply to IAM roles. IAM allows fewer characters, and no keys that
    differ only in case.

    Sources: IAM user guide, “Tags for IAM resources” and its API reference, Tag; kubernetes/kops
    issue 11727.
    """
    tags = read.labels(
        "tags",
        most=MOST,
        check=lambda key, value: _check(key, value) or _check_of_roles(key, value),
    )
    seen: dict[str, str] = {}
    for key in tags:
        if (other := seen.setdefault(key.lower(), key)) != key:
            read.refuse(
                f"tags.{key}",
                f'"{other}" is also set, but IAM doesn\'t distinguish the two keys; keep only one '
                "of them",
            )
    return tags


def _check(key: str, value: str) -> str:
    if not 1 <= len(key) <= 128:
        return "must have a key of 1 to 128 characters"
    if key.lower().startswith("aws:"):
        return "must not begin with aws:, which AWS reserves"
    return "" if len(value) <= 256 else f"must have at most 256 characters, not {len(value)}"


def _check_of_roles(key: str, value: str) -> str:
    if not _is_of_roles(key):
        return (
            "must have a key that contains only letters, digits, spaces, and "
            f"{' '.join(_OF_ROLES)}, because the tag is also set on IAM roles"
        )
    if not _is_of_roles(value):
        return (
            f"must contain only letters, digits, spaces, and {' '.join(_OF_ROLES)}, because the "
            "tag is also set on IAM roles"
        )
    return ""


def _is_of_roles(text: str) -> bool:
    return all(unicodedata.category(letter)[0] in "LZN" or letter in _OF_ROLES for letter in text)
