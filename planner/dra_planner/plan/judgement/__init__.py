"""The evaluation of a demand on nodes: sizes, pool answers, gangs, lost nodes, and simulation."""
