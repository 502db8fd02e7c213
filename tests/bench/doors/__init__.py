"""What a request costs that the API server or kube-scheduler waits for."""
