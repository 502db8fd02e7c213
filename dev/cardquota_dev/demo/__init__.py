"""The demo: a short story told with real kubectl commands on a real control plane.

`play` is the way in: it puts up the `theatre` and plays the steps of `story`, one after the other.
A step is a function of the `cast`: what its people do and see is printed as it happens, and
checked; a step that does not show what it says ends the demo.
"""
