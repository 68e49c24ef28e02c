"""From API form to the model: each function takes data whose types are right and fills in the API's
defaults.
"""
