"""The one judgement of a demand on nodes: sizes, answers of the pools, gangs, lost nodes, and the
simulation.
"""
