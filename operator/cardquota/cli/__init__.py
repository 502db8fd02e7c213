"""The command line: puts the house together. Nothing imports this package."""
