"""Settings and versions of drivers with which a pod fits an existing pool."""

from __future__ import annotations

from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import Shape
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.suggestion.device_sharing import driver_proposals, requests_part
from dra_planner.plan.suggestion.missing.tried_fleets import (
    MOST_PODS,
    FleetChange,
    FleetTrials,
    trials_of,
)
from dra_planner.wording import listed


def setting_changes(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return the first driver setting with which the pod fits an existing pool of the fleet."""
    for setting in driver_proposals(trials.fleet):
        changes = tuple(map(read_change, setting))
        text = f"set {listed(f'`{change}`' for change in changes)} in the fleet"
        try:
            document = change_fleet(trials.fleet, changes).document()
        except PlannerError:  # the driver version or Kubernetes doesn't support it
            continue
        for pool in trials.fleet.pools:
            found = trials.change(
                shape, document, pool.name, f'{text}, so that the pod fits in pool "{pool.name}"'
            )
            if found is not None:
                return (found.change,)
    return _sharing_changes(shape, trials)


def _sharing_changes(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return the first change of versions and settings with which devices have the capacity that a
    claim of the pod requests.
    """
    if not any(requests_part(claim.spec) for claim in shape.claims):
        return ()
    for sharing in trials.sharing():
        document = sharing.fleet.document()
        for pool in trials.fleet.pools:
            text = f'{sharing.text}, so that the pod fits in pool "{pool.name}"'
            found = trials.change(shape, document, pool.name, text)
            if found is not None:
                return (found.change,)
    return ()


def sharing_change(judgement: Judgement, shape: Shape, pods: int) -> str:
    """Return the settings with which a node holds more pods whose claims request a part of a
    device, or "".

    Without them, the driver publishes whole devices, and each claim gets a whole device, regardless
    of the amount that it requests. If the pool's nodes are still too few for this number of `pods`,
    the text includes their count.
    """
    trials = trials_of(judgement)
    if trials is None or not any(
        requests_part(claim.spec) for claim in shape.claims if claim.shared is None
    ):
        return ""
    for changed in trials.sharing():
        document = changed.fleet.document()
        for pool in trials.fleet.pools:
            now = trials.change(
                shape,
                trials.fleet.document(),
                pool.name,
                f"without changes, {pool.name}",
                most=MOST_PODS,
            )
            then = trials.change(
                shape, document, pool.name, f"{changed.text}, {pool.name}", most=MOST_PODS
            )
            if now is not None and then is not None and then.pods > now.pods:
                nodes = -(-pods // then.pods)
                more = (
                    f' and set the count of pool "{pool.name}" to {nodes}'
                    if nodes > pool.count.max
                    else ""
                )
                return f"{changed.text}{more}, so that several claims can share a device"
    return ""


def version_changes(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return the newest driver version with which the pod fits an existing pool, without other
    changes.
    """
    if trials.fleet.drivers.of(nvidia.DRIVER) is None:
        return ()
    for release in sorted(nvidia.driver_releases(), key=lambda each: -each.order):
        document = trials.fleet.document()
        if (
            not release.is_installable
            or release.version == document["drivers"]["nvidia"]["version"]
        ):
            continue
        document["drivers"]["nvidia"]["version"] = release.version
        for pool in trials.fleet.pools:
            text = (
                f"set the NVIDIA driver version to {release.version}, so that the pod fits "
                f'in pool "{pool.name}"'
            )
            found = trials.change(shape, document, pool.name, text)
            if found is not None:
                return (found.change,)
    return ()
