"""What to write instead of what was refused: `fixes` by the checked tree, `foreign_syntax` by the
string that does not parse.
"""
