"""Secrets never reach a rule, because values that a stack marks as secret count as unknown.

The engine hands marked values to a pack in the clear, and the policy SDK takes the marks off before
a policy sees them (pulumi/pulumi-policy:sdk/python/lib/pulumi_policy/deserialize.py@v1.21.0), so a
secret label or selector could appear in a message. This module removes the marked value before the
SDK unwraps it.
"""

from __future__ import annotations

from typing import Any

from pulumi_policy import policy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY, deserialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from dra_policies.unknown_values import as_list, as_mapping


def leave_secrets_out() -> None:
    """Make the SDK of this process replace every secret value with an unknown one. Safe to call
    again.
    """
    # otherwise, it would be unclear which values a policy receives
    if not hasattr(policy, "deserialize_properties"):
        raise RuntimeError(
            "this pulumi-policy version reads properties differently, so secrets could be printed"
        )
    policy.deserialize_properties = _deserialize  # pyright: ignore[reportPrivateImportUsage]: what the SDK calls


def _deserialize(props: dict[str, Any], proxy_secrets: bool = False) -> dict[str, Any]:
    if proxy_secrets:  # a remediation returns all properties, so secrets must stay secrets
        return deserialize_properties(props, proxy_secrets)
    return deserialize_properties(
        {key: without_secrets(value) for key, value in props.items()}, proxy_secrets
    )


def without_secrets(value: Any) -> Any:
    """Return an engine value with the mark of an unknown text in place of every secret."""
    mapping, items = as_mapping(value), as_list(value)
    if mapping is not None:
        if mapping.get(SPECIAL_SIG_KEY) == SPECIAL_SECRET_SIG:
            return UNKNOWN_STRING_VALUE
        return {key: without_secrets(item) for key, item in mapping.items()}
    return value if items is None else [without_secrets(item) for item in items]
