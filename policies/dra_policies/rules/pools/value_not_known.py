"""Values of properties that no known version of their API defines, in lists that can grow."""

from __future__ import annotations

from dra_policies.rules.api_values import unknown_values
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="value-not-known",
    description="A property has a value that no known version of its API defines.",
    why="Unless a newer version of the API adds the value, the cloud rejects the resource, often "
    "after Pulumi has created other resources.",
    fix="Use one of the listed values. If a newer version of the API adds the value, exempt the "
    "resource.",
    level="advisory",
    needs="stack",
    check=unknown_values,
)
