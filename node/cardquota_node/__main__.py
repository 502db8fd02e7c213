"""`python -m cardquota_node`."""

from .cli import main

main()
