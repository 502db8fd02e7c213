"""What goes wrong in a run, and when. Every fault ends with everything put right again."""
