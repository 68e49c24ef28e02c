"""Which of several wrong types the API server reports: the first one in the request."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner.manifests.schema import struct_of
from dra_planner.manifests.schema.decoding import decode

TOO_LARGE = 2**63


@pytest.mark.parametrize(
    ("attributes", "first"),
    [
        pytest.param(
            {"a.b/x": {"int": TOO_LARGE}, "": {"int": TOO_LARGE}},
            "spec.devices[0].attributes..int",
            id="an empty key comes before all others",
        ),
        pytest.param(
            {"a.b": {"int": TOO_LARGE}, "a-b": {"int": TOO_LARGE}},
            "spec.devices[0].attributes.a-b.int",
            id="keys with dots are compared as a whole",
        ),
    ],
)
def test_the_first_wrong_type_is_reported(attributes: dict[str, Any], first: str) -> None:
    struct = struct_of("resource.k8s.io/v1", "ResourceSlice")
    assert struct is not None
    data = {"spec": {"devices": [{"attributes": attributes}]}}

    (violation,) = decode(data, struct, "ResourceSlice", 37).violations

    assert violation.field == first
