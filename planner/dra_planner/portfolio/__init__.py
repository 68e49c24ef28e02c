"""Plan many stacks in many scenarios, and assign workloads to clusters.

This package is pure, like the rest of the planner. The command determines where, and in how many
processes, the cells run.
"""
