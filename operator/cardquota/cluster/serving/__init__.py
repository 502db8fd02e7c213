"""HTTP servers of ours: how they listen, and the certificates that they show and demand."""
