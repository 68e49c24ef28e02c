"""The syntax: parse a text to a tree with expanded macros, and convert a tree back to text.

`grammar` generates `tables.json` from the grammar (manually, with `make tables`), and `tables`
reads it. `automaton` runs the tables and calls `builder`, which builds the tree with `literals` and
`macros`. `parser` is the entry point. `printer` converts a tree to text.
"""
