"""Many stacks and scenarios: edits of fleet and demand, the plan of each, and placement across
clusters.

Pure, like the rest of the planner. The command decides where and in how many processes the cells
run.
"""
