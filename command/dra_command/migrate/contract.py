"""Output of `pulumi-dra migrate`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class MigratedTemplateRow(Output):
    """The result of one pod template."""

    file: str
    line: int
    object: str = Field(description="Kind, namespace, and name.")
    pods: str = Field(description="Name of the pod template; empty if the object has only one.")
    result: Literal["rewritten", "served", "kept", "cannot"]
    devices: int = Field(description="Devices of one pod.")
    reason: str
    served: dict[str, str] = Field(
        description="DeviceClass that serves each resource that the pods request "
        "(extendedResourceName). Empty for other results."
    )
    notes: list[str]
    alternatives: list[str] = Field(description="Alternatives, best first.")


class MigratedObjectRow(Output):
    """A change to an object that isn't a workload, or a change that only the object's owner can
    make.
    """

    file: str
    line: int
    object: str
    what: str
    is_changed: bool


class MigratedFileRow(Output):
    """A changed file, as a unified diff."""

    file: str
    diff: str


class MigrateOutput(Output):
    """Output of `pulumi-dra migrate --format json`."""

    version: Literal[1] = 1
    templates: list[MigratedTemplateRow]
    objects: list[MigratedObjectRow]
    files: list[MigratedFileRow]
    assumptions: list[str]
