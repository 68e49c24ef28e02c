"""From the model to API form: canonical and minimal, so that `parse(render(x)) == x` and a diff
shows what changed.
"""
