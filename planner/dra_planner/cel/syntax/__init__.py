"""The syntax: from a string to a tree, macros expanded, and back to a string.

`grammar` makes `tables.json` of the grammar (by hand, with `make tables`); `tables` reads it;
`automaton` runs it and calls `builder`, which grows the tree with `literals` and `macros`; `parser`
is the way in. `printer` goes back.
"""
