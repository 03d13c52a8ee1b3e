"""The command ``jury``: judge files, read what was found, and label it."""


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code."""
    try:
        from jury_adapters.cli.app import app
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"the command needs typer, rich and jinja2: pip install 'jury-adapters[cli]' ({error})"
        ) from None
    app(prog_name="jury")
