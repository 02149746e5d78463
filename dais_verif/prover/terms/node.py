"""The class of terms, its leaves, and functions to walk and rebuild terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

__all__ = [
    "BUILD",
    "MODE",
    "Term",
    "as_written",
    "built",
    "commuted",
    "const",
    "is_open",
    "leaves",
    "make",
    "misfit",
    "nodes",
    "number_of",
    "ones",
]
__all__ += ["rebuild", "signed_value", "undefined", "var", "varies"]


class Term:
    """One node, compared by identity; only ``make`` creates nodes.

    ``op``: the operation. ``data``: a constant's value, a variable's name, the low bit of an ``extract``, the
    entries of a ``lookup``, the constant of an ``add``. ``number``: increases in order of creation, so arguments
    have smaller numbers.
    """

    __slots__ = ("args", "data", "number", "op", "width")

    def __init__(self, op: str, width: int, args: tuple[Term, ...], data: object, number: int) -> None:
        self.op, self.width, self.args, self.data, self.number = op, width, args, data, number

    def __repr__(self) -> str:
        inside = [*map(repr, self.args), *([] if self.data is None else [str(self.data)])]
        return f"{self.op}{self.width}({', '.join(inside)})"

    @property
    def value(self) -> int:
        """The value of a constant."""
        if self.op != "const" or not isinstance(self.data, int):
            raise AssertionError(f"{self.op} is not a constant")
        return self.data

    @property
    def low(self) -> int:
        """The low bit of an ``extract``, or the constant of an ``add``."""
        assert isinstance(self.data, int)
        return self.data

    @property
    def entries(self) -> tuple[int, ...]:
        """The table of a ``lookup``."""
        assert isinstance(self.data, tuple)
        return self.data


_known: dict[tuple[str, int, tuple[Term, ...], object], Term] = {}

#: Terms that contain an undefined value.
_open: set[Term] = set()

#: Builds a term of an operation from width, arguments and data; filled by the modules that define operations.
BUILD: dict[str, Callable[[int, tuple[Term, ...], object], Term]] = {}


def make(op: str, width: int, args: tuple[Term, ...] = (), data: object = None) -> Term:
    """Return the node of these parts without applying any rule of the normal form."""
    key = (op, width, args, data)
    term = _known.get(key)
    if term is None:
        term = _known[key] = Term(op, width, args, data, len(_known))
        if _open and any(x in _open for x in args):
            _open.add(term)
    return term


def is_open(t: Term) -> bool:
    """Return whether ``t`` contains an undefined value."""
    return t in _open


class Mode:
    """``literal``: whether operations with an argument that is not constant are left as written."""

    literal = False


MODE = Mode()


@contextmanager
def as_written() -> Iterator[None]:
    """Build terms without rewrite rules while the context is active; only operations on constants are computed."""
    before, MODE.literal = MODE.literal, True
    try:
        yield
    finally:
        MODE.literal = before


def varies(*args: Term) -> bool:
    """Return whether any of ``args`` is not constant."""
    return any(x.op != "const" for x in args)


def ones(width: int) -> int:
    """Return an integer of ``width`` ones."""
    return (1 << width) - 1


def signed_value(value: int, width: int) -> int:
    """Return ``value``, of ``width`` bits, as a two's complement number."""
    return value - (1 << width) if value >> (width - 1) else value


def commuted(a: Term, b: Term) -> tuple[Term, Term]:
    """Return ``a`` and ``b`` in a fixed order: a constant last, else by number."""
    if a.op == "const" or (b.op != "const" and b.number < a.number):
        return b, a
    return a, b


def number_of(t: Term) -> int:
    """Return the number of a term, as a key for sorting."""
    return t.number


def misfit(*terms: Term) -> AssertionError:
    """Return the error for terms whose widths do not fit together: a bug in dais-verif, never a finding."""
    return AssertionError(f"widths do not fit: {', '.join(f'{t.op} of {t.width} bits' for t in terms)}")


def const(width: int, value: int) -> Term:
    """Return the low ``width`` bits of ``value``, which may be negative."""
    if width <= 0:
        raise AssertionError(f"a term of {width} bits")
    return make("const", width, (), value & ones(width))


def var(width: int, name: str) -> Term:
    """Return the variable ``name``: an arbitrary value, the same one for each use of the name."""
    if width <= 0:
        raise AssertionError(f"a term of {width} bits")
    return make("var", width, (), name)


def undefined(width: int, what: str, *args: Term) -> Term:
    """Return an undefined value, such as a word outside a memory: the same one for the same ``what`` and ``args``."""
    term = make("undefined", width, args, what)
    _open.add(term)
    return term


# walking


def nodes(*roots: Term) -> list[Term]:
    """Return all nodes of ``roots``, each once, after its arguments."""
    seen = set(roots)
    work = list(seen)
    while work:
        for x in work.pop().args:
            if x not in seen:
                seen.add(x)
                work.append(x)
    return sorted(seen, key=number_of)


def leaves(*roots: Term) -> list[Term]:
    """Return the variables and the undefined terms of ``roots``."""
    return [t for t in nodes(*roots) if t.op in ("var", "undefined")]


def rebuild(root: Term, replaced: Mapping[Term, Term]) -> Term:
    """Return ``root`` with terms replaced by others of the same width."""
    new: dict[Term, Term] = {}
    for t in nodes(root):
        other = replaced.get(t)
        if other is None:
            args = tuple(new[x] for x in t.args)
            other = t if args == t.args else built(t, args)
        if other.width != t.width:
            raise misfit(other, t)
        new[t] = other
    return new[root]


def built(t: Term, args: tuple[Term, ...]) -> Term:
    """Return the operation of ``t`` applied to ``args``."""
    return BUILD[t.op](t.width, args, t.data)


BUILD.update(
    {
        "const": lambda w, args, data: make("const", w, (), data),
        "var": lambda w, args, data: make("var", w, (), data),
        "undefined": lambda w, args, data: undefined(w, str(data), *args),
    }
)
