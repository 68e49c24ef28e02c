"""The findings that a project has recorded: the file of `pulumi-dra check --baseline`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class KnownFinding(BaseModel):
    """A finding that existed when `check` wrote the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    fingerprint: str = Field(
        description="Digest of the rule, file, field, and message, but not the line. For a "
        "workload that doesn't fit, the digest uses the workload instead of the message.",
        pattern="^[0-9a-f]{32}$",
    )
    code: str
    file: str
    message: str
    stack: str = Field(
        default="",
        description="The stack that was checked. Checks of other stacks ignore this finding. If the "
        "name is missing, the finding applies to every check.",
    )


class BaselineFile(BaseModel):
    """Findings that `check --baseline FILE` ignores, identified by fingerprint."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: Literal[1] = 1
    findings: list[KnownFinding]
