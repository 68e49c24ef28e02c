"""Rules about the check itself: rules that failed, unknown facts, and exemptions that have no
effect.
"""
