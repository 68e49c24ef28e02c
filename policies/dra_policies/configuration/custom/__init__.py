"""Rules that a project writes in CEL: the objects that they read, and how they run and are
tested.
"""
