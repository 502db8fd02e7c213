"""What an administrator applies: webhook objects and policies, rendered from the settings."""
