"""Shared files, fetched: by git, over HTTP, and from OCI registries.

Content that a commit or a digest pins is kept in the user's cache. Everything else is fetched once
per run.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from dra_planner.errors import NOWHERE, Place, SourceError
from dra_planner.sources import Source, read_file
from dra_policies.configuration.shared.git_repository import GitError, read_git_file
from dra_policies.configuration.shared.locations import GitFile, LocalFile, Location, WebFile
from dra_policies.configuration.shared.oci_registry import read_oci_file
from dra_policies.configuration.shared.pinned_files import DownloadError, download, pinned


def fetch(location: Location, place: Place = NOWHERE) -> Source:
    """Return a shared file as text, named by its location.

    Raises SourceError if it can't be fetched. `place` is the place of the location in its file.
    """
    if isinstance(location, LocalFile):
        if place.file and not os.path.exists(location.path):
            raise SourceError(f"{location.path} doesn't exist", place=place, fix="correct the path")
        return read_file(location.path)
    try:
        return Source(str(location), _content(location).decode("utf-8"))
    except DownloadError as error:
        fix = error.fix or "check the URL and your network"
        raise SourceError(
            f"{location} can't be downloaded: {error.message}", place=place, fix=fix
        ) from None
    except GitError as error:
        raise SourceError(
            f"{location} can't be fetched: {error.message}", place=place, fix=error.fix
        ) from None
    except UnicodeDecodeError:
        raise SourceError(
            f"{location} isn't UTF-8 text", place=place, fix="use another file"
        ) from None


@cache
def _content(location: Location) -> bytes:
    folder = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pulumi-dra" / "shared"
    )
    if isinstance(location, GitFile):
        return read_git_file(location, folder)
    if isinstance(location, WebFile):
        return pinned(location.sha256, folder, lambda: download(location.url))
    assert not isinstance(location, LocalFile)  # a local file is read directly
    return read_oci_file(location, folder)
