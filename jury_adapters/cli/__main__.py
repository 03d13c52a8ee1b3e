"""Run the command as ``python -m jury_adapters.cli``."""

from jury_adapters.cli import main

if __name__ == "__main__":
    main()
