"""What a run is judged by, from stored objects alone: no code is shared with the product."""
