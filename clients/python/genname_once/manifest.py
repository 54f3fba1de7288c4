"""Reads a manifest as kubectl does. yaml.safe_load reads dates, 12:30:45, 1e3 and y differently."""

import json
import math
import re
from typing import Any, Dict, Iterator, List, Tuple

import yaml

MOST_NODES = 1_000_000  # after aliases are replaced, as in the server's own reader

INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
WORDS: Dict[str, Any] = {"~": None, "": None}
for _word, _value in (("null", None), ("y", True), ("yes", True), ("on", True), ("true", True),
                      ("n", False), ("no", False), ("off", False), ("false", False)):
    WORDS.update({word: _value for word in (_word, _word.title(), _word.upper())})
TAG = "tag:yaml.org,2002:"
PLAIN = "!plain"  # the tag of a scalar that has none and no quotes


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: Any = {}

    def compose_scalar_node(self, anchor: Any) -> Any:
        event = self.peek_event()
        if event.tag == "!":
            event.tag = TAG + "str"
        return super().compose_scalar_node(anchor)

    def fetch_value(self) -> None:
        if self.flow_level and self.peek(1) in ",[]{}" and self.buffer[self.pointer - 1] not in "\"' \t\r\n]}":
            raise yaml.YAMLError("kubectl reads the colon as a part of the text: put the text in quotes")
        super().fetch_value()


_Loader.add_implicit_resolver(PLAIN, re.compile("", re.S), None)


def read_manifest(text: str) -> Any:
    """Returns the one document of the text, which is JSON or YAML. Raises ValueError if it can't be read."""
    try:
        return _read(text.lstrip("\ufeff"))
    except RecursionError:
        raise ValueError("the manifest can't be read: it is nested too deeply, or contains itself") from None


def _read(text: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            try:
                return json.loads(text, parse_constant=_no_number)
            except ValueError:
                pass  # YAML can begin with a brace, too
        documents = [node for node in yaml.compose_all(text, _Loader) if node.value != "" or node.tag != PLAIN]
    except yaml.YAMLError as error:
        raise ValueError(f"the manifest can't be read: {error}") from error
    if len(documents) != 1:
        raise ValueError(f"the manifest has {len(documents)} documents, and needs one")
    return _Reader().value(documents[0])


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number in JSON")


class _Reader:
    """Turns nodes into values. Keys are text."""

    def __init__(self) -> None:
        self.left = MOST_NODES

    def value(self, node: yaml.Node) -> Any:
        self.left -= 1
        if self.left < 0:
            raise ValueError("the manifest is too large after its aliases are replaced")
        kind = node.tag[len(TAG):] if node.tag.startswith(TAG) else node.tag
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return dict(self.members(node))
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.value(item) for item in node.value]
        if isinstance(node, yaml.ScalarNode) and kind in ("str", PLAIN, "int", "float", "bool", "null"):
            return _scalar(node.value, kind)
        raise ValueError(f"the manifest has the tag {node.tag}, which is not supported")

    def members(self, node: yaml.MappingNode) -> Iterator[Tuple[str, Any]]:
        """Yields the members in their order, so that the last of equal keys counts. A merge counts where it is."""
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag == PLAIN and key.value == "<<":
                merged: List[yaml.Node] = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for one in reversed(merged):  # the first counts
                    if not isinstance(one, yaml.MappingNode):
                        raise ValueError("the manifest merges something that is no map")
                    yield from self.members(one)
            else:
                yield _key(self.value(key)), self.value(value)


def _scalar(text: str, kind: str) -> Any:
    if kind == "str":
        return text
    found = _plain(text)
    if kind == "float" and isinstance(found, int) and not isinstance(found, bool):
        return float(found)
    names = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}
    if kind not in (PLAIN, names[type(found)]):
        raise ValueError(f"{text!r} in the manifest is no {kind}")
    return found


def _plain(text: str) -> Any:
    """Returns the value of a scalar without a tag and without quotes."""
    if text in WORDS:
        return WORDS[text]
    beside = text[0] == "." and re.search("(?<![0-9])_|_(?![0-9])", text)  # an underscore that isn't between two digits
    number = text if beside else text.replace("_", "")
    if text[0] != "_" and INTEGER.match(number):
        digits = re.sub(r"^([-+]?0)([0-7]+)$", r"\1o\2", number)  # 0644 is octal
        found = int(digits, 0)
        if -(1 << 63) <= found < 1 << 64:
            return found
    if text[0] != "_" and FLOAT.match(number):
        approximate = float(number)
        return approximate if math.isfinite(approximate) else text
    if re.match(r"[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$", text):
        raise ValueError(f"the manifest has {text}, which is no number in JSON")
    return text


def _key(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and float(f"{value:.6g}") == value and (value == 0 or 1e-37 < abs(value) < 1e38):
        return f"{value:.6g}"  # 1e6 is 1e+06, as in kubectl, which rounds other fractions to 32 bits
    if isinstance(value, int) and abs(value) < 1 << 53:
        return str(value)
    raise ValueError(f"the manifest has a key of the type {type(value).__name__}")
