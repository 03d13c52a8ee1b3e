"""Reading of YAML as data: text, numbers, true, false, null, lists and mappings with text as keys.

The special words are those of YAML 1.2, so YES, NO, on, off, dates and 010 stay text. A key twice, anchors, aliases and
tags are refused.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from jury_adapters.core.files import check_regular
from jury_adapters.core.values import InputError

_LONGEST = 1_000_000  # characters


class _Loader(yaml.SafeLoader):
    """Safe loader with the words of YAML 1.2, which constructs plain values only."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise yaml.MarkedYAMLError(problem="anchors, aliases and tags are not read", problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        """Construct a mapping whose keys are text, each once."""
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in found:
                problem = f"{key!r} is twice in a mapping" if isinstance(key, str) else f"the key {key!r} is not text"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            found[key] = self.construct_object(value_node, deep=True)
        return found


_Loader.yaml_implicit_resolvers = {}
_Loader.yaml_constructors = {
    tag: made
    for tag, made in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in ("null", "bool", "int", "float", "str", "seq")
}
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.mapping)
for _tag, _pattern, _starts in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})", list("-+0123456789")),
    ("float", r"[-+]?(?:0|[1-9]\d*)?(?:\.\d+(?:[eE][-+]?\d+)?|(?<=\d)[eE][-+]?\d+)", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$", re.ASCII), _starts)


def parse_yaml(text: str, name: str = "the text") -> Any:
    """Return the value of the one document in a text; None for an empty one.

    Args:
        text: the text.
        name: its name in errors.

    Raises:
        InputError: it is not YAML of plain values, or longer than a million characters.

    >>> parse_yaml("labels: {YES: pass, NO: fail}")
    {'labels': {'YES': 'pass', 'NO': 'fail'}}
    """
    if len(text) > _LONGEST:
        raise InputError(f"{name}: longer than {_LONGEST:,} characters")
    try:
        return _Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise InputError(f"{name}{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: not YAML of plain values ({type(error).__name__})") from None


def read_yaml(path: Path) -> Any:
    """Return the value of the one document in a file; see :func:`parse_yaml`.

    Raises:
        InputError: the file cannot be read, or is not YAML of plain values.
    """
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_yaml(text, str(path))
