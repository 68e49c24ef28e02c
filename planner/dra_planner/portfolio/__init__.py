"""Many stacks and scenarios: edits of fleet and demand, the plan of each, and placement across
clusters.

Pure, as the rest of the planner: who runs the cells, where and on how many machines is the
command's.
"""
