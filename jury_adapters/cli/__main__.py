"""``python -m jury_adapters.cli`` is the ``jury`` command."""

from jury_adapters.cli import main

main()
