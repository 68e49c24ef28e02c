"""Fleets and captures are in modules next to the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
