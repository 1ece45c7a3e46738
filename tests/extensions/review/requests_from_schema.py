"""Requests made from the OpenAPI description: such as it allows, and such as it does not."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**53, 2**63, 2**64, -(2**70), 1.5, 1e308, "", "x", "0", "-1", "null", "\0", "\u202e", "\ud800", "😀",
    "../../etc/passwd", "%00", "'; DROP TABLE decisions; --", "a" * 3000, [], {}, [[]], [None], {"a": 1}, ["x"] * 50,
)  # fmt: skip
"""Values that nobody expects."""


class RequestMaker:
    """Makes requests by chance: half of the values are as described, half are odd."""

    def __init__(self, description: Mapping[str, Any], seed: int) -> None:
        self.description, self.random = description, random.Random(seed)
        self.operations = [
            (method.upper(), path, operation)
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
        ]

    def make(self) -> tuple[str, str, bytes | None]:
        """Method, address and body of one request."""
        method, path, operation = self.random.choice(self.operations)
        query = []
        for parameter in operation.get("parameters", ()):
            value = self.value(parameter["schema"])
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(self._text(value), safe=""))
            elif parameter.get("required") or self.random.random() < 0.4:
                values = value if isinstance(value, list) else [value]
                query += [f"{quote(parameter['name'])}={quote(self._text(one))}" for one in values]
        body = None
        if "requestBody" in operation:
            body = self._body(operation["requestBody"]["content"]["application/json"]["schema"])
        return method, path + (f"?{'&'.join(query)}" if query else ""), body

    def _text(self, value: Any) -> str:
        return str(value).encode("utf-8", "replace").decode()

    def _body(self, schema: Mapping[str, Any]) -> bytes:
        if self.random.random() < 0.05:
            return self.random.choice([b"", b"{", b"\xff", b"[]", b"null", b'{"a":' * 500])
        return json.dumps(self.value(schema, odd=0.25)).encode()

    def value(self, schema: Mapping[str, Any], odd: float = 0.4) -> Any:
        """A value, as the schema says or odd."""
        if self.random.random() < odd:
            return self.random.choice(ODD)
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.value(self.description["components"]["schemas"][name], odd=odd)
        if "anyOf" in schema:
            return self.value(self.random.choice(schema["anyOf"]), odd=odd)
        if "enum" in schema or "const" in schema:
            return self.random.choice(schema.get("enum") or [schema["const"]])
        return self._plain(schema, odd)

    def _plain(self, schema: Mapping[str, Any], odd: float) -> Any:
        if schema.get("type") == "object":
            properties = schema.get("properties", {})
            kept = [n for n in properties if n in schema.get("required", ()) or self.random.random() < 0.5]
            return {name: self.value(properties[name], odd=odd / 3) for name in kept}
        if schema.get("type") == "array":
            return [self.value(schema["items"], odd=odd) for _ in range(self.random.randrange(4))]
        usual: dict[Any, list[Any]] = {
            "integer": [0, 1, 2, 3, self.random.randrange(10**6)],
            "number": [0.0, 0.5, 1.0, self.random.random()],
            "boolean": [True, False],
            "string": ["x", "y", "ann", "u1", "fish", f"r{self.random.randrange(50)}"],
        }
        return self.random.choice(usual.get(schema.get("type"), [None]))
