"""The command line: puts the house together. Nothing imports this package."""


def main() -> None:
    """The program `cardquota`."""
    from .app import app

    app(prog_name="cardquota")
