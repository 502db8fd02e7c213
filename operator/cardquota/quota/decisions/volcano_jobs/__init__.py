"""Jobs of Volcano: can one ever run that is created (V4), and what does it ask for (V3)."""
