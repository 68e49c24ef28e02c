"""Static analysis of an expression: types, overloads, and the device values that it reads.

`overload_rows` declares the functions as text, `overloads` reads them for a dialect, and `checker`
resolves calls with them. `validation` checks literals, and `read_paths` finds the paths of the
device that a checked tree can read.
"""
