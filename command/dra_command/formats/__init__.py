"""How answers are told: one module per format."""
