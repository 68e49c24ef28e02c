"""Plan many stacks in many scenarios, and assign workloads to clusters.

Pure, like the rest of the planner. The command decides where and in how many processes the cells
run.
"""
