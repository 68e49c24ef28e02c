"""Paths from the root of the repository, which code hosts expect in reports of findings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

# GitHub Actions and GitLab set these to the folder of the checkout.
_CHECKOUTS: Final = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def repository_path(file: str) -> str:
    """Return the path of a file from the root of its repository, or the path as it is if the file
    is outside, or if there is no repository.
    """
    if not file or os.path.isabs(file):
        return file
    here = Path.cwd()
    path = Path(os.path.normpath(here / file))
    roots = [Path(os.path.realpath(root)) for name in _CHECKOUTS if (root := os.environ.get(name))]
    roots += [each for each in (here, *here.parents) if (each / ".git").exists()][:1]
    inside = [root for root in roots if path.is_relative_to(root)]
    return path.relative_to(inside[0]).as_posix() if inside else file
