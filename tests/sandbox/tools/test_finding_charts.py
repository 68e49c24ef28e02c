"""Charts: the user's folder comes first, a path is used as is, and the error names missing
charts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_sandbox.tools.charts import Charts

REPOSITORY = "https://charts.example"


def helm_that(folder: Path, does: str) -> Path:
    command = folder / "helm"
    command.write_text(f"#!/bin/sh\n{does}\n")
    command.chmod(0o755)
    return command


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "given" / "driver-1.0.0").mkdir(parents=True)
    (tmp_path / "given" / "driver-1.1.0.tgz").write_bytes(b"")
    return tmp_path / "given"


def test_the_users_folder_comes_first_and_missing_charts_are_reported(
    tmp_path: Path, given: Path
) -> None:
    charts = Charts(
        helm_that(tmp_path, "echo 'no such host' >&2; exit 1"), tmp_path / "kept", given
    )

    assert charts.find("driver", "1.0.0", "driver", REPOSITORY) == given / "driver-1.0.0"
    assert charts.find("driver", "1.1.0", "driver", REPOSITORY) == given / "driver-1.1.0.tgz"
    assert charts.find("driver", "2.0.0", "driver", REPOSITORY) is None
    assert charts.missing == {("driver", "2.0.0"): "no such host"}
    assert not list((tmp_path / "kept").iterdir())


def test_a_published_chart_is_downloaded_once(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    fetches = f'echo "$@" >> {asked}; for to; do :; done; touch "$to/driver-2.0.0.tgz"'

    for _ in range(2):
        charts = Charts(helm_that(tmp_path, fetches), tmp_path / "kept")
        found = charts.find("driver", "2.0.0", "oci://registry.example/driver", "")
        assert found == tmp_path / "kept" / "driver-2.0.0" / "driver-2.0.0.tgz"
        assert found.is_file()

    (line,) = asked.read_text().splitlines()
    assert line.startswith("pull oci://registry.example/driver --version 2.0.0 --destination ")


def test_a_path_is_a_local_chart(tmp_path: Path, given: Path) -> None:
    own = given / "driver-1.0.0"

    assert (
        Charts(helm_that(tmp_path, "exit 1"), tmp_path / "kept").find(
            "driver-1.0.0", "", str(own), ""
        )
        == own
    )
