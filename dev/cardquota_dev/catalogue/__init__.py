"""The catalogue of messages, `docs/messages.md`: every sentence of the product.

It is here and not in the product: developers read it and users get the page, but an operator in a
cluster does not need it. The examples are made by calling the product's own functions, so the page
cannot differ from the product.
"""
