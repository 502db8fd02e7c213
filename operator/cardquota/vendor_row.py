"""A row that an administrator adds to the vendor table (D6), and its validation."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import AfterValidator, model_validator

from .quota.cards.card import MemoryUnit
from .quota.cards.vendor import ProductLabels, Vendor
from .quota.words import show
from .section import Section

_PART: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_LABEL_KEY: Final = re.compile(rf"({_PART.pattern}/)?{_PART.pattern}")
_NO_WHOLE: Final = {
    ".shared": "shares of cards",
    ".product": "a label of cards",
    ".memory": "a label of cards",
    ".count": "a label of cards",
    ".replicas": "a label of cards",
}
"""By the plain rule (D1, D3), names with these ends are not whole cards."""
_MIG: Final = "mig-"


def _resource_part(text: str) -> str:
    if not text or "/" in text or not text.isprintable() or text != text.strip():
        raise ValueError("must be a part of a label key, such as nvidia.com or gpu")
    return text


def _label_key(text: str) -> str:
    if not _LABEL_KEY.fullmatch(text):
        raise ValueError("must be a label key, such as amd.com/gpu.product-name")
    return text


def _resource_name(text: str) -> str:
    prefix, slash, kind = text.partition("/")
    if not (slash and _PART.fullmatch(prefix) and _PART.fullmatch(kind)):
        raise ValueError("must be a resource name, such as amd.com/gpu")
    return text


def _beginning(text: str) -> str:
    if text and (not _PART.fullmatch(text) or text.startswith(_MIG)):
        raise ValueError("must be the beginning of names such as npu for npu310, not an expression")
    return text


def _no_whole_card(kind: str) -> str | None:
    """What a name after a prefix means, if not whole cards; else None."""
    if kind.startswith(_MIG):
        return "slices of cards"
    return next((what for end, what in _NO_WHOLE.items() if kind.endswith(end)), None)


class VendorRow(Section):
    """Resource names and node labels of a maker. The plain rule applies to all that is not set."""

    name: str
    """Name of the maker, for people."""
    prefix: Annotated[str, AfterValidator(_resource_part)]
    """The part of the resource name before the slash: `nvidia.com`."""
    type: Annotated[str, AfterValidator(_resource_part)]
    """The part of the resource name after the slash: `gpu`."""
    resources: tuple[Annotated[str, AfterValidator(_resource_name)], ...] = ()
    """More resource names of whole cards, beside `<prefix>/<type>`."""
    resource_prefix: Annotated[str, AfterValidator(_beginning)] = ""
    """More resource names: those that begin with `<prefix>/` and this, and go on with letters,
    digits, hyphens and underscores. `mlu` stands for `mlu370`."""
    product_labels: tuple[Annotated[str, AfterValidator(_label_key)], ...] = ()
    """Labels whose value is the name of the card. The first one that a node has counts. After them,
    `<prefix>/<type>.product` counts, which needs the label `.memory` beside it."""
    memory_label: Annotated[str, AfterValidator(lambda x: x and _label_key(x))] = ""
    """Label with the memory of one card, for `productLabels`. Empty: there is none."""
    memory_unit: MemoryUnit = MemoryUnit.MIB
    """`MiB`: a whole number of MiB. `written`: a number with its unit, `64G`."""

    @model_validator(mode="before")
    @classmethod
    def _no_expression(cls, row: object) -> object:
        if isinstance(row, Mapping) and "resourceTypes" in row:
            raise ValueError(
                "resourceTypes, a regular expression, is not read any more: write resourcePrefix, "
                "what the names begin with (npu for npu310), or each name in resources"
            )
        return row

    def vendor(self) -> Vendor:
        """The row as the domain knows it."""
        return Vendor(
            self.name,
            self.prefix,
            self.type,
            self.resources,
            self.resource_prefix,
            tuple(
                ProductLabels(key, self.memory_label, self.memory_unit)
                for key in self.product_labels
            ),
            own_first=True,
        )

    @model_validator(mode="after")
    def _whole_cards_alone(self) -> Self:
        """Shares and slices are counted separately: as whole cards they would be lost."""
        for key, name in (("type", self.type), *(("resources", name) for name in self.resources)):
            what = _no_whole_card(name.rpartition("/")[2])
            if what is not None:
                raise ValueError(
                    f"<{show(self.name)}>: {key} <{show(name)}> names {what}: write the name of "
                    "whole cards, such as gpu, or leave it out; shares and slices need no row"
                )
        return self

    @model_validator(mode="after")
    def _memory_of_what(self) -> Self:
        if self.memory_label and not self.product_labels:
            raise ValueError("memoryLabel goes with productLabels: say those too")
        return self
