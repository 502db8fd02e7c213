"""What `kubectl cardquota page` is made of: a token, a port-forward, a proxy on this machine."""
