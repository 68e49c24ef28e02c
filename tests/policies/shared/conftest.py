"""A separate cache, a repository, and a server for every test. Tests can import the modules in this
folder.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dra_policies.configuration.shared import fetching

sys.path.insert(0, str(Path(__file__).parent))

from shared_sources import RULES, Server, git


@pytest.fixture(autouse=True)
def scratch_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fetching._content.cache_clear()
    return tmp_path / "cache/pulumi-dra/shared"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the tag v1, and with a branch that no longer has the rule."""
    folder = tmp_path / "shared"
    (folder / "rules").mkdir(parents=True)
    (folder / "rules/gpu.yaml").write_text(RULES)
    (folder / "pulumi-dra.yaml").write_text(
        "extends: [rules/gpu.yaml]\nfleets: {prod: fleets/prod.yaml}\n"
    )
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1")
    (folder / "rules/gpu.yaml").write_text("rules: {}\n")
    git(folder, "commit", "-qam", "two")
    return folder


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()
