"""The command line: the commands and their options, a folder each. Nothing imports this package."""


def main() -> None:
    """The program `cardquota`."""
    from .app import app

    app(prog_name="cardquota")
