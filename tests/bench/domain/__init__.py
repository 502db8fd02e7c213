"""What the domain costs, in this process and without a server."""
