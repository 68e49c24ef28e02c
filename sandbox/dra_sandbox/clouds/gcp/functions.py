"""Google Cloud SDK functions that work without an account."""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.releases import MAXIMUM_MINOR, MINIMUM_MINOR
from dra_sandbox.clouds.wire_values import Values

Place = Mapping[str, str]

# https://cloud.google.com/compute/docs/regions-zones: the regions whose zones aren't a, b, and c.
_ZONES = {"us-central1": "abcf", "us-east1": "bcd", "europe-west1": "bcd"}
# AI zones are listed among the other zones: googleapis/google-cloud-go issue 13734.
_AI_ZONES = {"us-central1": ("us-central1-ai1a",), "us-south1": ("us-south1-ai1b",)}

_PATCH = "3-gke.2000000"
PROJECT_NUMBER = "123456789012"


def client_config(arguments: Values, place: Place) -> Values:
    return {
        "project": place["project"],
        "region": place["region"],
        "zone": place["zone"],
        "accessToken": "simulated-token",
        "defaultLabels": {},
        "id": f"projects/{place['project']}/regions/{place['region']}/zones/{place['zone']}",
    }


def project(arguments: Values, place: Place) -> Values:
    name = arguments.get("projectId") or place["project"]
    return {
        "id": f"projects/{name}",
        "projectId": name,
        "name": name,
        "number": PROJECT_NUMBER,
        "autoCreateNetwork": True,
        "billingAccount": "",
        "deletionPolicy": "",
        "effectiveLabels": {},
        "folderId": "",
        "labels": {},
        "orgId": "",
        "pulumiLabels": {},
        "tags": {},
    }


def zones(arguments: Values, place: Place) -> Values:
    region = arguments.get("region") or place["region"]
    if not region:
        raise ValueError(
            "the region is missing; set region in the arguments, or set gcp:region in the stack's "
            "configuration"
        )
    names = [
        *(f"{region}-{letter}" for letter in _ZONES.get(region, "abc")),
        *_AI_ZONES.get(region, ()),
    ]
    return {
        "id": f"projects/{place['project']}/regions/{region}",
        "names": sorted(names),
        "project": place["project"],
    }


def engine_versions(arguments: Values, place: Place) -> Values:
    """Return two versions of each supported minor version (a patch and the previous one), newest
    first. As in the real function, a prefix filters them.
    """
    every = [f"1.{minor}.{_PATCH}" for minor in range(MAXIMUM_MINOR, MINIMUM_MINOR - 2, -1)]
    matching = [
        version for version in every if version.startswith(arguments.get("versionPrefix") or "")
    ]
    return {
        "id": "2026-01-01 00:00:00 +0000 UTC",
        "validMasterVersions": matching,
        "validNodeVersions": matching,
        "latestMasterVersion": matching[0] if matching else "",
        "latestNodeVersion": matching[0] if matching else "",
        "defaultClusterVersion": f"1.34.{_PATCH}",
        "releaseChannelDefaultVersion": dict.fromkeys(
            ("RAPID", "REGULAR", "STABLE"), f"1.34.{_PATCH}"
        ),
        "releaseChannelLatestVersion": {
            "RAPID": f"1.36.{_PATCH}",
            "REGULAR": f"1.35.{_PATCH}",
            "STABLE": f"1.34.{_PATCH}",
        },
        "releaseChannelUpgradeTargetVersion": {},
    }


def newest(prefix: str) -> str:
    """Return the newest version that begins with `prefix` ("1.35"). For a prefix that isn't
    offered, return the default version.
    """
    found: list[str] = engine_versions({"versionPrefix": prefix}, {"project": ""})[
        "validMasterVersions"
    ]
    return found[0] if prefix and found else f"1.{MINIMUM_MINOR}.{_PATCH}"


FUNCTIONS = {
    "gcp:organizations/getClientConfig:getClientConfig": client_config,
    "gcp:organizations/getProject:getProject": project,
    "gcp:compute/getZones:getZones": zones,
    "gcp:container/getEngineVersions:getEngineVersions": engine_versions,
}
