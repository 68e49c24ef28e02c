"""An environment in which this project is installed from its wheel."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def environment_with_wheel(folder: Path, scratch: Path) -> Path:
    """Make an environment that has this project from its built wheel, and all else from the one
    that runs the tests.

    A path in a `.pth` file is searched for packages but not for further `.pth` files, so the links
    to the checkout in the environment of the tests are not followed. Returns its interpreter.
    """
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(scratch),
    ]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    asked = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Path(asked.stdout.strip())
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
