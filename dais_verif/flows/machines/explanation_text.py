"""Write a cycle of a machine as text, one line per element."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.record.explanation import CycleRecord, ElementState

__all__ = ["text_of"]

#: Wider columns are not aligned.
_WIDEST = 40


def text_of(record: CycleRecord) -> str:
    """List all elements of signals: kind, name, type, real value, raw integer, bits, next value, cause."""
    return "".join(f"{line}\n" for line in _lines(record))


def _lines(record: CycleRecord) -> Iterator[str]:
    yield (
        f"; sequence {record.sequence}, cycle {record.cycle} of {record.cycles}: before its edge; after ->, what"
        " registers hold after it"
    )
    counts: dict[str, int] = {}
    for element in record.elements:
        counts[element.signal] = max(counts.get(element.signal, 0), element.element + 1)
    rows = [_cells(element, counts[element.signal]) for element in record.elements]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*rows, strict=True)]
    for element, row in zip(record.elements, rows, strict=True):
        aligned = [
            cell.rjust(width) if at in _NUMBERS else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(aligned).rstrip()
        yield f"  {line}  ; {element.because}" if element.because else f"  {line}"
    if record.violation is not None:
        yield f"! {record.violation}"


#: Columns of numbers.
_NUMBERS = (3, 4, 5)


def _cells(element: ElementState, count: int) -> list[str]:
    name = element.signal if count == 1 else f"{element.signal}[{element.element}]"
    kind = "output" if element.output and element.kind == "wire" else element.kind
    kind = "output register" if element.output and kind == "register" else kind
    now = ["unknown", "", ""] if element.real is None else [element.real, str(element.raw), element.bits or ""]
    then = "unknown" if element.next is None else element.next
    return [kind, name, element.type, *now, f"-> {then}" if element.kind == "register" else ""]
