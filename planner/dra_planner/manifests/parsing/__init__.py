"""Convert API objects to the model. Each function gets data with valid types, and applies the API's
defaults.
"""
