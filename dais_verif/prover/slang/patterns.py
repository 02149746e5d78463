"""Assignment patterns: ``'{a, b}``, ``'{2{a}}``, and ``'{x: a, default: b}``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dais_verif.prover.slang.design import ast, fields
from dais_verif.prover.terms import Term, concat

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["keyed", "listed", "repeated"]

_NO_NUMBERS = (
    ast.SimpleAssignmentPatternExpression,
    ast.StructuredAssignmentPatternExpression,
    ast.ReplicatedAssignmentPatternExpression,
    ast.InvalidExpression,  # a pattern that pyslang binds again for each element
)


def listed(c: Converter, e: Any) -> Term:
    """Return the elements in order, the first one in the highest bits."""
    return concat(*(c(x) for x in e.elements))


def repeated(c: Converter, e: Any) -> Term:
    """Return the elements, repeated."""
    return concat(*[listed(c, e)] * c(e.count).value)


def keyed(c: Converter, e: Any) -> Term:
    """Return members or elements that are given by name, index, type or ``default``.

    Raises ``InputError`` if ``default`` or a type assigns anything other than zeros to arrays or structures: simulators
    differ in whether each of their elements gets the value.
    """
    terms = [c(x) for x in e.elements]
    if e.defaultSetter is not None or list(e.typeSetters):
        deep = type(e.defaultSetter) in _NO_NUMBERS or not all(map(_is_plain, _others(e)))
        if deep and not all(term.op == "const" and term.value == 0 for term in _given_to_others(e, terms)):
            raise c.refused(e, "simulators differ in what default gives to arrays and structures; name each of them")
    return concat(*terms)


def _others(e: Any) -> Iterator[Any]:
    """Yield the types of members that are not named, or the innermost element type of an array."""
    kind = e.type
    if kind.isStruct:
        named = [setter.member for setter in e.memberSetters]
        yield from (x.type for x in fields(kind) if x not in named)
        return
    element = kind.arrayElementType
    while kind.isUnpackedArray and element.isUnpackedArray:
        element = element.arrayElementType
    yield element


def _given_to_others(e: Any, terms: list[Term]) -> list[Term]:
    named = [setter.member for setter in e.memberSetters]
    if not e.type.isStruct:
        return terms
    return [term for x, term in zip(fields(e.type), terms, strict=True) if x not in named]


def _is_plain(kind: Any) -> bool:
    """Return whether a type is a plain vector, integer or enum."""
    return bool(kind.isSimpleBitVector or kind.isPredefinedInteger or kind.isScalar or kind.isEnum)
