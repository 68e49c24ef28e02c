"""Compile a checked tree to closures, and hold their state.

`evaluator` compiles nodes, with `calls` for calls (using the closures of `call_shapes`), `loops`
for loops and bindings of macros, and `access` for fields and indices. `compiler` is the interface
that they use. `state` contains the inputs and the spent cost of one evaluation.
"""
