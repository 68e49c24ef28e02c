"""The operators and functions on values, by overload. Each library has a module, and `table` lists
all of them.
"""
