"""Check the version of a GKE control plane against its current version and its release channel."""

from __future__ import annotations

import re

from dra_sandbox.clouds.gcp.functions import newest
from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Value

CHANNEL = "dra-sandbox:gcp:Channel"
"""Versions of a release channel, by its name: {"versions": ["1.34.3-gke.2000000"]}. A channel that
isn't configured offers all versions.
"""


def moves_by_one_minor(request: CloudRequest) -> str | None:
    """Reject an upgrade that skips a minor version.

    Source: docs.cloud.google.com/kubernetes-engine/versioning, “Version skew policy” (without the
    text of the error message).
    """
    if request.inputs is None or request.before is None:
        return None
    wanted, now = (
        newest(str(request.inputs.get("minMasterVersion") or "")),
        str(request.before["masterVersion"]),
    )
    if _numbers(wanted)[1] - _numbers(now)[1] < 2:
        return None
    return (
        f'Master cannot be upgraded to "{wanted}": cannot upgrade the master more than a minor '
        "version at a time. "
        f'Master\'s current version is "{now}".'
    )


def is_of_its_channel(request: CloudRequest) -> str | None:
    """Reject a version that only another channel offers. Source: terraform-google-kubernetes-engine
    issue 2177.
    """
    inputs = request.inputs or {}
    channel, wanted = (
        (inputs.get("releaseChannel") or {}).get("channel"),
        str(inputs.get("minMasterVersion") or ""),
    )
    offered = (request.cloud.get(CHANNEL, str(channel)) or {}).get("versions")
    if not wanted or offered is None or any(each.startswith(wanted) for each in offered):
        return None
    if request.before is not None and _numbers(newest(wanted)) <= _numbers(
        str(request.before["masterVersion"])
    ):
        return None
    return (
        f'Master version must be one of "{channel}" channel supported versions '
        f"[{', '.join(offered)}]."
    )


def version_of_master(facts: Facts) -> Value:
    """Return the version of a control plane.

    The requested version is a minimum, and lower versions have no effect. Source:
    hashicorp/terraform-provider-google issue 3509.
    """
    requested, now = (
        newest(str(facts.inputs.get("minMasterVersion") or "")),
        str(facts.old.get("masterVersion") or ""),
    )
    return now if now and _numbers(now) >= _numbers(requested) else requested


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


REFUSALS = (moves_by_one_minor, is_of_its_channel)
