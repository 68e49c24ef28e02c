"""An environment in which this project is installed from its wheel."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def environment_with_wheel(folder: Path, scratch: Path) -> Path:
    """Create an environment that contains this project's built wheel, and all other packages from
    the environment that runs the tests. Return the path of its interpreter.

    Python searches a path in a `.pth` file for packages, but not for further `.pth` files, so it
    doesn't follow the links to the checkout in the environment of the tests.
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
    done = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Path(done.stdout.strip())
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
