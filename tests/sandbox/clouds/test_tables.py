"""The tables only have names of the installed SDKs, so a test fails if a new SDK renames
something.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dra_sandbox.clouds.aws.functions import FUNCTIONS as AWS_FUNCTIONS
from dra_sandbox.clouds.aws.resource_types import ROWS as AWS_ROWS
from dra_sandbox.clouds.azure_native.functions import FUNCTIONS as AZURE_FUNCTIONS
from dra_sandbox.clouds.azure_native.resource_types import ROWS as AZURE_ROWS
from dra_sandbox.clouds.gcp.functions import FUNCTIONS as GCP_FUNCTIONS
from dra_sandbox.clouds.gcp.resource_types import ROWS as GCP_ROWS
from dra_sandbox.clouds.kubernetes.kinds import CLUSTER_SCOPED
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema, TypeSpec
from dra_sandbox.clouds.type_rows import TypeRow

TABLES = {"aws": AWS_ROWS, "azure-native": AZURE_ROWS, "gcp": GCP_ROWS}
ROWS = [(cloud, token, row) for cloud, rows in TABLES.items() for token, row in rows.items()]


def paths_of(row: TypeRow) -> Iterator[str]:
    yield from row.replace
    yield from row.in_place
    yield from row.when_removed
    yield from row.sets
    yield from row.allowed
    yield from row.defaults
    if row.name:
        yield row.name
    if row.protected_by:
        yield row.protected_by


def exists(schema: Schema, path: str) -> bool:
    """Return whether a path of a table is the path of an input."""
    spec: TypeSpec | None = None
    for part in path.split("."):
        name = part.removesuffix("[*]")
        here = schema.inputs if spec is None else schema.objects.get(spec.object_name, {})
        if name not in here:
            return False
        spec = here[name].type
        if part.endswith("[*]"):
            spec = spec.of[0]
    return True


@pytest.mark.parametrize(("cloud", "token", "row"), ROWS, ids=[token for _, token, _ in ROWS])
def test_every_path_of_a_row_exists_in_the_schema(cloud: str, token: str, row: TypeRow) -> None:
    schema = Sdk(cloud).resource(token)

    assert [path for path in paths_of(row) if not exists(schema, path)] == []
    assert set(row.outputs) | set(row.every_time) | set(row.instead) <= set(schema.outputs)


@pytest.mark.parametrize("token", [*AWS_FUNCTIONS, *AZURE_FUNCTIONS, *GCP_FUNCTIONS])
def test_every_function_exists_in_its_sdk(token: str) -> None:
    assert Sdk(token.split(":", 1)[0]).function(token).token == token


def test_every_cluster_scoped_kind_exists_in_the_sdk() -> None:
    kinds = {token.rsplit(":", 1)[-1] for token in Sdk("kubernetes").tokens()}

    assert kinds >= CLUSTER_SCOPED
