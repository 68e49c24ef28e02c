"""Lets the tests of this folder share builders: modules beside them are importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2] / "fixes"))
