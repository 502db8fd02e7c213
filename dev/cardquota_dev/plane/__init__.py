"""One control plane: its processes from the first port to the last signal, and its state.

In: the options of `up`. Out: a folder with kubeconfigs, logs and `state.json`, and processes that
end with their supervisor.
"""
