"""One real node on a plane: containerd, a kubelet and the node agent, as processes of the plane.

In: the binaries of `build`, the plane's API server. Out: the node `real-1`, Ready, with the memory
of two cards that a file stands for. `requirements` says what of it a machine cannot do.
"""
