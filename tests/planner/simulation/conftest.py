"""Tests can import the builders in this folder and those of the allocator by name."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "allocation")]
