"""The product on a plane: its replicas, and the stand-in for the Service before them.

In: a plane that answers, and the options of `up`. Out: `Product`, installed and working.
"""
