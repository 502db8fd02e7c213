"""The names of the real node: what pods, kwok and the API server know it by."""

from typing import Final

NODE: Final = "real-1"

MARK: Final = "cardquota.dev/real-node"
"""A label, by which kwok knows to leave it alone; and a taint, so that only pods that tolerate it
come here: the images of all others are nowhere.
"""

IMAGE: Final = "cardquota.dev/environment:1"
"""The only image on the node. Its program prints its environment and waits for its end."""
