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
    ast.InvalidExpression,  # a pattern that pyslang binds for each element again
)


def listed(c: Converter, e: Any) -> Term:
    """Elements in their order, the first in the highest bits."""
    return concat(*(c(x) for x in e.elements))


def repeated(c: Converter, e: Any) -> Term:
    """Return the same several times over."""
    return concat(*[listed(c, e)] * c(e.count).value)


def keyed(c: Converter, e: Any) -> Term:
    """Members or elements by their names, numbers or types, and all others as one.

    Raises ``InputError`` where the others are themselves arrays or structures and get something else than zeros:
    simulators differ in whether each of their own elements gets it.
    """
    terms = [c(x) for x in e.elements]
    if e.defaultSetter is not None or list(e.typeSetters):
        deep = type(e.defaultSetter) in _NO_NUMBERS or not all(map(_is_plain, _others(e)))
        if deep and not all(term.op == "const" and term.value == 0 for term in _given_to_others(e, terms)):
            raise c.refused(e, "simulators differ in what default gives to arrays and structures; name each of them")
    return concat(*terms)


def _others(e: Any) -> Iterator[Any]:
    """Yield the types of what is not named; of an unpacked array's elements, whatever its dimensions are."""
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
    """Whether a type is one number."""
    return bool(kind.isSimpleBitVector or kind.isPredefinedInteger or kind.isScalar or kind.isEnum)
