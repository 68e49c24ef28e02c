"""Lets the tests of this folder share builders: modules beside them, and those of the allocator, by
name.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "allocation")]
