"""The git repository that contains a folder."""

from __future__ import annotations

from pathlib import Path


def repository_root(folder: Path) -> Path:
    """Return the root of the git repository that contains a folder, or the folder itself if it
    isn't in a repository.
    """
    real = folder.resolve()
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), real)


def is_in_repository(folder: Path) -> bool:
    """Return whether a folder is in a git repository."""
    return (repository_root(folder) / ".git").exists()
