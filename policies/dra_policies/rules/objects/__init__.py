"""Rules about single objects: rejected by the API server, incomplete, or with secrets in plain
text.
"""
