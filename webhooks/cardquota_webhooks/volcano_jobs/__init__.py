"""Reviews of Jobs of Volcano, which it ends when their pods are refused."""
