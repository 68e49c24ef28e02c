"""The API server's validation of objects, with its own messages and field paths, by minor
version.
"""
