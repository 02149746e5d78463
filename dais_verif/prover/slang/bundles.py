"""Arrays and unpacked structures: memories, or bundles with one signal per element or member."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import Bits, Signal, driver_of
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in, fields, why_no_bits
from dais_verif.prover.terms import Term, concat

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["bundled", "divide", "keyed", "listed", "repeated"]


#: Maximum number of elements of one array, and of all arrays together.
_LARGEST_MEMORY = 1 << 24
#: Maximum numbers of elements and of bits of one bundle, and of elements of all bundles together.
_MOST_ELEMENTS, _MOST_BITS, _MOST_IN_ALL = 1 << 18, 1 << 22, 1 << 20


def bundled(design: SlangDesign, symbol: Any, name: str, where: str, initial_only: bool, port: bool) -> int | None:
    """Return the width of an array or a structure if it is a bundle; else add it to the memories and return None.

    ``initial_only``: whether only initial blocks assign it. ``port``: whether it is a port, which cannot be a memory.
    Raises ``InputError`` if it can be neither a bundle nor a memory.
    """
    kind, width = symbol.type, bits_in(symbol.type)
    while kind.isUnpackedArray and kind.hasFixedRange:
        kind = kind.arrayElementType
    size = bits_in(kind) or 1
    if width is not None and width // size > _LARGEST_MEMORY:
        raise UnsupportedVerilog(
            f"{where}: {name!r} has {width // size:,} elements; the proof supports at most {_LARGEST_MEMORY:,}"
        )
    design.elements_declared += width // size if width is not None else 0
    if design.elements_declared > _LARGEST_MEMORY:
        raise UnsupportedVerilog(
            f"{where}: {name!r} and the arrays before it have {design.elements_declared:,} elements; the"
            f" proof supports at most {_LARGEST_MEMORY:,} in total"
        )
    if width is not None and (port or not (initial_only and symbol.type.isUnpackedArray)):
        large = width > _MOST_BITS or width // size > _MOST_ELEMENTS
        if port or not (large or design.elements_bundled + width // size > _MOST_IN_ALL):
            design.elements_bundled += width // size
            return width
    design.memories[symbol] = _memory(symbol.type, name, where)
    return None


def divide(design: SlangDesign, symbol: Any, whole: Signal, given: bool) -> None:
    """Make a signal for each element of ``whole``.

    ``given``: whether the elements are inputs and drive ``whole``; otherwise, ``whole`` drives the elements.
    """
    low, elements = 0, []
    for own, size in _elements(symbol.type, whole.name):
        element = design.new(own, size, whole.where)
        elements.append((low, size, element))
        if given:
            whole.drive(driver_of(_bits_of(element), 0, size, low, whole.where))
        else:
            element.drive(driver_of(_bits_of(whole), low, size, 0, whole.where))
        low += size
    design.elements[symbol] = Spans(elements)


def _memory(kind: Any, name: str, where: str) -> Memory:
    element, spans = kind, []
    while element.isUnpackedArray and element.hasFixedRange:
        spans.append((element.fixedRange.left, element.fixedRange.right))
        element = element.arrayElementType
    if not spans or not element.isIntegral:
        raise UnsupportedVerilog(f"{where}: {name!r}: {why_no_bits(kind)}")
    return Memory(name, where, element.bitWidth, *spans[0], spans[1:])


def _bits_of(signal: Signal) -> Bits:
    return lambda read, low, width: read(signal, low, width)


def _elements(kind: Any, name: str) -> Iterator[tuple[str, int]]:
    """Yield the names and widths of an array's elements, or a structure's members, from the lowest bits up."""
    if kind.isUnpackedStruct:
        for member in reversed(fields(kind)):
            yield from _elements(member.type, f"{name}.{member.name}")
        return
    if not kind.isUnpackedArray or not kind.hasFixedRange:
        yield name, bits_in(kind) or 0
        return
    span = kind.fixedRange
    step = 1 if span.left >= span.right else -1
    for index in range(span.right, span.left + step, step):
        yield from _elements(kind.arrayElementType, f"{name}[{index}]")


# Assignment patterns: ``'{a, b}``, ``'{2{a}}``, and ``'{x: a, default: b}``.


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
