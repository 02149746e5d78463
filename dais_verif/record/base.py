"""Base classes of all records of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from dais_verif.base.errors import RecordError, VerdictError
from dais_verif.base.structs import converted
from dais_verif.base.troubleshooting import section_of_verdict
from dais_verif.base.verdict import Verdict

if TYPE_CHECKING:
    from typing import Self

__all__ = ["NOT_KEPT", "SCHEMA", "Record", "RunRecord", "show_in_notebooks", "to_tree"]

#: The version of the output of ``--json``; later versions only add fields.
SCHEMA = "dais-verif/result/1"


def to_tree(value: Any) -> Any:
    """Return ``value``, which consists of dataclasses, as dictionaries, lists, strings and numbers.

    Fields named in ``LEFT_OUT_IF_NONE`` of their class are omitted if they are None, and ``NOT_KEPT`` fields always.
    Keys become text.
    """
    if is_dataclass(value) and not isinstance(value, type):
        optional = getattr(value, "LEFT_OUT_IF_NONE", ())
        kept = (field for field in fields(value) if field.metadata.get("kept", True))
        pairs = ((field.name, getattr(value, field.name)) for field in kept)
        return {name: to_tree(item) for name, item in pairs if item is not None or name not in optional}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_tree(item) for key, item in value.items()}
    return [to_tree(item) for item in value] if isinstance(value, list | tuple) else value


#: The renderer for notebooks; ``notebooks`` sets it, because records do not depend on their renderings.
_renderers: list[Callable[[Record], str]] = []


def show_in_notebooks(renderer: Callable[[Record], str]) -> None:
    """Let ``renderer`` make the HTML of records in notebooks; it replaces the previous renderer."""
    _renderers[:] = [renderer]


#: Marks a field that exists in memory but not in JSON.
NOT_KEPT = {"kept": False}


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of a command: of a run, or of generated files."""

    SCHEMA: ClassVar = SCHEMA

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as dictionaries, lists, strings and numbers."""
        return {"schema": self.SCHEMA, **to_tree(self)}

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the record that ``to_json`` wrote as ``text``.

        Raises ``InputError`` if it is not a record, has another schema, or an exit code that contradicts its verdict.
        """
        import msgspec  # imported only for reading, so that commands that print a record need not wait for it

        try:
            tree = msgspec.json.decode(text)
            record = converted(tree, cls, str_keys=True)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise RecordError(f"the text is not a {cls.__name__}: {error}") from None
        if tree.get("schema") != cls.SCHEMA:
            schema = tree.get("schema")
            raise RecordError(f"the text is not a {cls.__name__}: its schema must be {cls.SCHEMA!r}, not {schema!r}")
        record._require_head(tree)
        return record

    def _require_head(self, tree: dict[str, Any]) -> None:
        """Raise ``InputError`` if ``tree``, from which this record was read, contradicts the record."""

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook, or None: then the notebook shows ``repr``."""
        return _renderers[0](self) if _renderers else None


@dataclass(frozen=True, kw_only=True)
class RunRecord(Record):
    """The record of a run, with its verdict. ``message``: the verdict in words."""

    #: True if the exit code is the last field in JSON, as in earlier versions.
    EXIT_CODE_LAST: ClassVar = False

    verdict: Verdict
    message: str

    @property
    def passed(self) -> bool:
        """True if the verdict is PASS."""
        return self.verdict is Verdict.PASS

    def raise_for_verdict(self) -> None:
        """Raise ``VerdictError`` unless the verdict is PASS."""
        if not self.passed:
            raise VerdictError(self.verdict, self.message)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as dictionaries, lists, strings and numbers."""
        tree = super().to_dict()
        head = {"schema": tree.pop("schema"), "verdict": tree.pop("verdict")}
        code = {"exit_code": self.verdict.exit_code}
        if self.EXIT_CODE_LAST:
            return {**head, **self.about(), **tree, **code}
        return {**head, **code, **self.about(), **tree}

    def about(self) -> dict[str, str]:
        """Return the documentation section about the verdict, as the field ``help``; empty for PASS."""
        section = section_of_verdict(self.verdict)
        return {"help": section} if section else {}

    def _require_head(self, tree: dict[str, Any]) -> None:
        if tree.get("exit_code") != self.verdict.exit_code:
            given, rule = tree.get("exit_code"), f"{self.verdict.exit_code} with {self.verdict.value}"
            raise RecordError(f"the text is not a {type(self).__name__}: exit_code is {given!r}, must be {rule}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.verdict.value}: {self.message}>"
