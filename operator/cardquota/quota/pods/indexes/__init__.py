"""Pods by what is asked of them: by controller, by queue, by who holds which cards."""
