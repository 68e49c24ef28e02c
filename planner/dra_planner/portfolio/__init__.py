"""Many stacks and many futures: scenarios as edits of fleet and demand, what each says, and placement across clusters.

Pure, as the rest of the planner: who runs the cells, where and on how many machines is the command's.
"""
