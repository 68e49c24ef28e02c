"""Rules about the check itself: rules that failed, facts that are unknown, exemptions without
effect.
"""
