"""What is known of an expression before it runs: types, overloads, and what it reads.

`overload_rows` declares the functions as text, `overloads` reads them for a dialect, `checker`
resolves calls with them, `validation` checks literals, and `read_paths` finds the paths of the
device that a checked tree can see.
"""
