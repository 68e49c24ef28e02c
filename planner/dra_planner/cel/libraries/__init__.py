"""The operators and functions on values, by overload: one module per library, `table` for all of
them.
"""
