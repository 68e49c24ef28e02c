"""Component packages on the engine, and the errors if there is no program to run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from dra_sandbox.engine import Engine, EngineError

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("components")
    (folder / "source").mkdir()
    (folder / "source" / "Pulumi.yaml").write_text("name: trial\nruntime: python\n")
    return Engine(folder / "work", folder / "source")


def test_the_schema_of_a_component_package_is_read_through_its_host(
    engine: Engine, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(__file__).parent / "programs" / "component", package)
    (package / "PulumiPlugin.yaml").write_text(
        f"runtime: {{name: python, options: {{toolchain: pip, virtualenv: {sys.prefix}}}}}\n"
    )

    schema = engine.package_schema(package)

    assert (schema["name"], schema["version"]) == ("trial-package", "1.2.3")
    greeting = schema["resources"]["trial-package:index:Greeting"]
    assert greeting["inputProperties"]["name"]["description"] == "Who is greeted."
    assert greeting["isComponent"]


def test_a_missing_stack_cannot_be_exported(engine: Engine) -> None:
    with pytest.raises(EngineError, match="can't export the stack nowhere"):
        engine.export("nowhere")


def test_creating_a_stack_twice_does_not_change_its_source(engine: Engine) -> None:
    engine.stack_init("dev")
    engine.stack_init("dev")

    assert engine.resources("dev") == []
    assert (engine.settings_folder / "Pulumi.dev.yaml").is_file()
    assert [path.name for path in engine.project_dir.iterdir()] == ["Pulumi.yaml"]


def test_a_folder_without_a_project_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Pulumi\.yaml"):
        Engine(tmp_path / "work", tmp_path)
