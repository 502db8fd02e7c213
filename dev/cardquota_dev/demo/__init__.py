"""The demo: real kubectl commands on a real control plane, step by step.

`run` starts the `demo_plane` and runs the `steps`, one after the other. A step is a function of the
`context`: what its users do and see is printed as it happens, and checked. A step that does not
show what it says ends the demo.
"""
