"""Models of our custom resources. The CRDs are generated from them."""
