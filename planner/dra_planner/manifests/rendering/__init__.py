"""Convert the model to API objects.

The result is canonical and minimal, so that `parse(render(x)) == x` and a diff shows only real
changes.
"""
