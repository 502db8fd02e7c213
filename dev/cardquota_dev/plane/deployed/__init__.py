"""The operator as pods on the real node: from its image, by the manifests.

In: the archive of the image. Out: a Deployment whose pods are ready. The plane is in a network
namespace of its own then, where pods have addresses.
"""
