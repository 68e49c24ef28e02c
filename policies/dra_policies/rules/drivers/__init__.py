"""Rules about installing DRA drivers: version, chart values, and the nodes that the driver
reaches.
"""
