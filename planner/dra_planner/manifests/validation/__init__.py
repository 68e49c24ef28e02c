"""What the API server says to an object: rules in its own words, with its field paths, per minor
release.
"""
