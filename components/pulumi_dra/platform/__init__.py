"""DraPlatform: everything from a fleet and its plan, and the settings of a stack."""
