"""``jury schema``: the JSON schema of jury files."""

from __future__ import annotations

import json

from jury_adapters.cli.streams import write


def schema() -> None:
    """Print the JSON schema of jury files, for your editor.

    Save it as jury.schema.json beside the jury file, and begin that file with the line:

    # yaml-language-server: $schema=jury.schema.json
    """
    from jury_adapters.config import jury_schema

    write(json.dumps(jury_schema(), indent=2) + "\n")
