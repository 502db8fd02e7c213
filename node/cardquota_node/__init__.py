"""The node's half: what cards a node has, and which container gets which.

In: the driver's library NVML, or a file. Out: commands of the program `cardquota-node`.
"""
