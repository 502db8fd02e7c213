"""`python -m cardquota.cli`: the same as `cardquota`."""

from . import main

if __name__ == "__main__":
    main()
