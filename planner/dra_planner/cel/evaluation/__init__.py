"""From a checked tree to closures, and their state.

`evaluator` compiles nodes, with `calls` for calls (in the shapes of `call_shapes`), `loops` for
macros' loops and bindings, and `access` for fields and indices; `compiler` is what these ask of it.
`state` is what one evaluation reads and spends.
"""
