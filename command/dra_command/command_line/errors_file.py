"""The file for errors as JSON, in addition to the subcommand's output in another format."""

from __future__ import annotations

from typing import Final

ERRORS_FILE: Final = "PULUMI_DRA_ERRORS_FILE"
"""The environment variable that names the file. `ci` sets it for its subcommands."""
