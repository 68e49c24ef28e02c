"""Makes modules in the folder of the tests importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
