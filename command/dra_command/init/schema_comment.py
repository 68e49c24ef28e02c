"""Comments that tell editors where to find the published schema of a generated file."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata, version
from typing import Final

from dra_command.command_line.installation import installed_from
from dra_planner.package_version import semantic_version

_NAME: Final = "pulumi-dra"
_AT_COMMIT: Final = re.compile(
    r"git\+https://(?P<host>[^/@]+)/(?P<path>[^@]+?)(\.git)?@(?P<ref>[\w.-]+)$"
)
_SOURCE: Final = re.compile(r"Source, *https://(?P<host>[^/]+)/(?P<path>.+?)/?$")


def schema_comment(name: str) -> str:
    """Return a line that tells the YAML language server which schema to use.

    Empty if this version's repository isn't known. The schema is the one at the installed commit
    or version.
    """
    url = _folder_url()
    return f"# yaml-language-server: $schema={url}/docs/schema/{name}.json\n" if url else ""


def _folder_url() -> str:
    """Return the URL of the repository's files at this version; "" if it isn't known."""
    if found := _AT_COMMIT.search(installed_from()):
        return _raw_url(found["host"], found["path"], found["ref"])
    try:
        sources = metadata(_NAME).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    known = next((found for each in sources if (found := _SOURCE.match(each))), None)
    return (
        ""
        if known is None
        else _raw_url(known["host"], known["path"], f"v{semantic_version(version(_NAME))}")
    )


def _raw_url(host: str, path: str, ref: str) -> str:
    if host == "github.com":
        return f"https://raw.githubusercontent.com/{path}/{ref}"
    return f"https://{host}/{path}/-/raw/{ref}" if "gitlab" in host else ""
