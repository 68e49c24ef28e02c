"""Errors that end the scheduling attempt of a pod, as values."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dra_planner.allocation.search.devices import DeviceId
from dra_planner.allocation.search.selection import SelectorError

ErrorKind = Literal[
    "selector", "device-limit", "consumers", "pool-unusable", "constraint-of-all", "other"
]


class AttemptError(Struct, frozen=True):
    """An error that ends the attempt. `message` is the error as Kubernetes prints it.

    `claim` is "namespace/name", and `request` is "request" or "request/subrequest". `selector` and
    `device` are set if a selector fails. `devices` is the number of devices that a claim requests
    if it's too large.
    """

    message: str
    kind: ErrorKind = "other"
    claim: str = ""
    request: str = ""
    selector: SelectorError | None = None
    device: DeviceId | None = None
    devices: int = 0


class AttemptFailed(Exception):
    """Ends the attempt of the pod with an error."""

    def __init__(self, error: AttemptError) -> None:
        super().__init__(error.message)
        self.error = error
