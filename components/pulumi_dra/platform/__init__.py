"""The `DraPlatform` component, which creates all resources from a plan, and stack settings."""
