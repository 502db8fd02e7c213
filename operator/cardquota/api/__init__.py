"""Models of our custom resources, from which the CRDs are generated."""
