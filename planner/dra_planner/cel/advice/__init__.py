"""What to write instead of what was refused: `fixes` by the checked tree, `slips` by the string
that does not parse.
"""
