"""The evaluation of a demand on nodes: sizes, answers of pools, gangs, lost nodes, and the
simulation.
"""
