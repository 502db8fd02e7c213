"""Who made an object."""

from integration.asking import Object


def controlled_by(maker: Object) -> list[Object]:
    """The ownerReferences of what a controller makes for an object of its kind."""
    named = {key: maker["metadata"][key] for key in ("name", "uid")}
    kind = {key: maker[key] for key in ("apiVersion", "kind")}
    return [{**kind, **named, "controller": True, "blockOwnerDeletion": True}]
