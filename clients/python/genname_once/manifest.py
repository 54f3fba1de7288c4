"""Reads YAML as kubectl does. yaml.safe_load reads dates, 12:30:45, 1e3 and y differently."""

import json
import re
from typing import Any, Union

import yaml

NUMBER = re.compile(r"[-+]?(0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9]+)?)$", re.I)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: Any = {}


def _number(text: str) -> Union[int, float]:
    plain = text.replace("_", "")
    try:
        return int(re.sub(r"^([-+]?0)([0-7]+)$", r"\1o\2", plain), 0)  # 0644 is octal
    except ValueError:
        return float(plain)


_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile("<<$"), ["<"])
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
for word, value in (("y|yes|on|true", True), ("n|no|off|false", False)):
    words = "|".join((word, word.title(), word.upper()))
    _Loader.add_implicit_resolver(f"!{value}", re.compile(f"({words})$"), list("ynotfYNOTF"))
    _Loader.add_constructor(f"!{value}", lambda loader, node, value=value: value)
_Loader.add_implicit_resolver("!number", NUMBER, list("-+.0123456789"))
_Loader.add_constructor("!number", lambda loader, node: _number(node.value))


def read_manifest(text: str) -> Any:
    """Returns the one document of the text."""
    return json.loads(json.dumps(yaml.load(text, _Loader)))  # keys are strings
