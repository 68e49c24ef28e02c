"""The search for devices on one node: requests, constraints, counters, and shared capacity."""
