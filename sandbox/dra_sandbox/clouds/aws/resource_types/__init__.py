"""The AWS resource types with special behavior, by subject.

The rows also list the properties that can't change in place. For types in the table
`provider_rules`, that table takes precedence. It restates the `ForceNew` and `RequiresReplace`
marks of hashicorp/terraform-provider-aws, on which the real provider is built. For other types, the
rows follow the services' APIs, but weren't compared with them line by line.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws.resource_types import clusters, events, identities, machines, networks
from dra_sandbox.clouds.type_rows import Facts, TypeRow
from dra_sandbox.clouds.wire_values import Value


def _all_tags(facts: Facts) -> Value:
    return facts.inputs.get("tags") or {}


COMMON = TypeRow(
    outputs={"ownerId": "{account}"}, known={"tagsAll": _all_tags, "region": "{region}"}
)

ROWS: Mapping[str, TypeRow] = {
    **networks.ROWS,
    **machines.ROWS,
    **identities.ROWS,
    **events.ROWS,
    **clusters.ROWS,
}
