"""Kubeflow Profiles: the namespace, service accounts, and quota that the controller creates."""

from __future__ import annotations

import pytest

from dra_planner.manifests import Manifests
from dra_planner.model import ObjectKey
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

PROFILE = """\
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: team-a}
spec:
  owner: {kind: User, name: ann@example.com}
"""
QUOTA_SPEC = '{hard: {requests.nvidia.com/gpu: "1", pods: "4"}}'
WITH_QUOTA = f"{PROFILE}  resourceQuotaSpec: {QUOTA_SPEC}\n"
QUOTA = f"""\
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: kf-resource-quota, namespace: team-a}}
spec: {QUOTA_SPEC}
"""


def read(text: str) -> Manifests:
    return read_checked([Source("m.yaml", text)], features_of(36))


def test_quota_of_a_profile_is_the_quota_of_its_namespace() -> None:
    found, same = read(WITH_QUOTA), read(QUOTA)

    assert found.quotas == same.quotas
    assert found.quota_places.keys() == same.quota_places.keys()
    assert found.diagnostics == same.diagnostics == ()


@pytest.mark.parametrize("text", [PROFILE, f"{PROFILE}  resourceQuotaSpec: {{hard: {{}}}}\n"])
def test_profile_without_limits_has_no_quota(text: str) -> None:
    assert read(text).quotas == ()


def test_profile_creates_no_pods() -> None:
    found = read(WITH_QUOTA)

    assert (found.workloads, found.unread, found.unclear) == ((), (), ())
    assert found.unknown_kinds == frozenset()


def test_own_quota_replaces_that_of_a_profile() -> None:
    found = read(WITH_QUOTA + QUOTA.replace('"4"', '"2"'))

    (quota,) = found.quotas
    assert quota["spec"]["hard"]["pods"] == "2"


def test_invalid_quota_of_a_profile_is_an_error() -> None:
    found = read(WITH_QUOTA.replace('"4"', "-1"))

    (finding,) = found.diagnostics
    assert (finding.severity, finding.place.line) == ("error", 6)
    assert finding.message.startswith("ResourceQuota team-a/kf-resource-quota: spec.hard[pods]")
    assert found.quotas == ()


def test_profile_declares_its_namespace_and_service_accounts() -> None:
    found = read(PROFILE)

    for name in ("default-editor", "default-viewer"):
        assert ("ServiceAccount", ObjectKey("team-a", name)) in found.declared
    assert ("Namespace", ObjectKey("", "team-a")) in found.declared
