"""Names that people type: which are known, which is nearest, which mean nothing; wildcards."""
