"""Pod groups and gangs, in sentences."""
