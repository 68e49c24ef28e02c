"""The AWS resource types that do something particular, by subject.

What cannot change in place: for types with rows in `provider_rules.csv` as that table says, from
the `ForceNew` and `RequiresReplace` marks of hashicorp/terraform-provider-aws, on which the real
provider is built; for other types as the services' APIs allow, not compared line by line.
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
