"""The catalogue of messages, `docs/messages.md`: every sentence that the product can say.

It lives beside the control plane, not in the product: it is read by those who write the product
and printed for those who use it, and an operator in a cluster has no use for it. The examples are
made by calling the product's own functions, so the page cannot say what the product does not.
"""
