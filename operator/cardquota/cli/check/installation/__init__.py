"""Whether the product is installed rightly: what stands in the cluster beside what should.

In: the settings, and a client with the user's own rights. Out: the section `installation`.
"""
