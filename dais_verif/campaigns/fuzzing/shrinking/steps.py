"""The steps that make a case smaller, each with its guarantee; ``shrunk`` repeats them until none helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.shrinking.edits import Output, constant, rebuilt, typed
from dais_verif.campaigns.fuzzing.shrinking.search import Fails, Search, TimeUp
from dais_verif.golden.shrink import shrunk as shrunk_vector
from dais_verif.spec.program import FixedType, Op
from dais_verif.spec.program.opcodes import INPUT, Code, Data, bitwise_fields, high_int32, low_int32

__all__ = ["Outcome", "shrunk", "size"]


class Outcome:
    """The smallest case, the number of tested cases, and whether the search finished before the time was up."""

    def __init__(self, case: Case, asked: int, complete: bool) -> None:
        self.case, self.asked, self.complete = case, asked, complete


def shrunk(case: Case, fails: Fails, seconds: float, tell: Callable[[str], None] = lambda text: None) -> Outcome:
    """Return the smallest case found within ``seconds`` of CPU time that ``fails``, as ``case`` does.

    The result is deterministic unless the time runs out. ``fails`` is only called with valid cases.
    """
    search = Search(case, fails, seconds, tell)
    complete = True
    try:
        _fewer_rows(search)
        _without_the_unread(search)
        _shorter(search)
        _last_alone(search)
        before = None
        while before != search.case.key:
            before = search.case.key
            for step in (_fewer_outputs, _shorter, _later, _fewer_ops, _simpler_ops, _smaller_tables, _plain_ends):
                step(search)
            _fewer_rows(search)
            _simpler_numbers(search)
    except TimeUp:
        complete = False
    return Outcome(search.case, search.asked, complete)


def size(case: Case) -> tuple[int, int, int]:
    """Return the number of ops that compute something, of all ops, and of vectors."""
    computing = sum(op.code not in (INPUT, Code.CONST) for op in case.program.ops)
    return computing, case.program.n_ops, len(case.rows)


def _fewer_rows(search: Search[Case]) -> None:
    """Remove vectors until none can be removed alone."""
    if len(search.case.rows) > 1:
        for row in search.case.rows[:1] + search.case.rows[-1:]:  # often the first or the last one is sufficient
            if search.consider(replace(search.case, rows=(row,))):
                return
    search.fewest(search.case.rows, lambda rows: replace(search.case, rows=tuple(rows)) if rows else None)


def _without_the_unread(search: Search[Case]) -> None:
    """Remove ops and inputs that no output depends on. If the failure needs them, make these ops outputs.

    If the case does not fail then either, keep unused inputs from now on (``whole``).
    """
    case = search.case
    if search.consider(rebuilt(case)) or case.key == _key(rebuilt(case)):
        return
    program = case.program
    read = {operand for op in program.ops for operand in op.operands}
    ends = [(op.index, 0, False) for op in program.ops if op.index not in read]
    if not search.consider(rebuilt(case, outputs=[*program.outputs, *ends])):
        search.case = replace(case, whole=True)


def _key(case: Case | None) -> object:
    return None if case is None else case.key


def _fewer_outputs(search: Search[Case]) -> None:
    """Remove outputs until none can be removed alone."""
    case = search.case  # outputs refer to the op numbers of this case, even after ops were removed
    search.fewest(case.program.outputs, lambda outputs: _with_outputs(case, outputs))


def _with_outputs(case: Case, outputs: Sequence[Output]) -> Case | None:
    return rebuilt(case, outputs=outputs) if outputs else None


def _shorter(search: Search[Case]) -> None:
    """Remove ops after the failure: earlier ops that removed ops read become outputs."""
    _bisect(search, lambda case, end: _ended(case, end), from_the_end=True)


def _last_alone(search: Search[Case]) -> None:
    """Keep the last op alone: the failure is often in one op, after later ops are removed."""
    program = search.case.program
    if program.n_ops:
        last = program.ops[-1]
        cut = {operand for operand in last.operands if program.ops[operand].code != INPUT}
        search.consider(rebuilt(search.case, cut=cut, outputs=[(last.index, 0, False)]))


def _later(search: Search[Case]) -> None:
    """Remove ops before the failure: those that later ops read become inputs."""
    _bisect(search, lambda case, begin: _begun(case, begin), from_the_end=False)


def _ended(case: Case, end: int) -> Case | None:
    program = case.program
    read = {operand for op in program.ops[end:] for operand in op.operands if operand < end}
    kept = [output for output in program.outputs if output[0] < end]
    there = {index for index, _, _ in kept}
    return _with_outputs(case, [*kept, *((index, 0, False) for index in sorted(read - there))])


def _begun(case: Case, begin: int) -> Case | None:
    program = case.program
    cut = [op.index for op in program.ops[:begin] if op.code not in (INPUT, Code.CONST)]
    return rebuilt(case, cut=cut)


def _bisect(search: Search[Case], made: Callable[[Case, int], Case | None], *, from_the_end: bool) -> None:
    """Remove halves, quarters, ... of the ops from one end, down to single ops."""
    step = search.case.program.n_ops // 2
    while step:
        n_ops = search.case.program.n_ops
        place = n_ops - step if from_the_end else step
        if n_ops < 2 or not 0 < place < n_ops or not search.consider(made(search.case, place)):
            step //= 2


def _fewer_ops(search: Search[Case]) -> None:
    """Turn groups of ops, from halves down to single ops, into inputs or zeros; replace single ops by an operand."""
    width = max(search.case.program.n_ops // 2, 1)
    while width:
        stop = search.case.program.n_ops
        while stop > 0:
            case = search.case
            chunk = [op for op in case.program.ops[max(stop - width, 0) : stop] if op.code != INPUT]
            stop -= width
            if chunk and any(search.consider(one) for one in _without(case, chunk)):
                stop = min(stop, search.case.program.n_ops)
        width //= 2


def _without(case: Case, chunk: Sequence[Op]) -> Iterator[Case | None]:
    computing = [op for op in chunk if op.code != Code.CONST]
    if computing:
        yield rebuilt(case, cut=[op.index for op in computing])
    yield rebuilt(case, replaced={op.index: constant(op) for op in chunk if not _is_zero(op)})
    if len(chunk) == 1:
        for operand in dict.fromkeys(chunk[0].operands):
            yield rebuilt(case, forward={chunk[0].index: operand})


def _is_zero(op: Op) -> bool:
    return op.code == Code.CONST and op.data == 0


def _simpler_ops(search: Search[Case]) -> None:
    """Simplify data words, terms and types of ops until no tried simplification of any op fails."""
    index = 0
    while index < search.case.program.n_ops:
        took = any(search.consider(_with_op(search.case, op)) for op in _simpler(search.case.program.ops[index]))
        index += not took


def _with_op(case: Case, op: Op) -> Case | None:
    return rebuilt(case, replaced={op.index: op})


def _simpler(op: Op) -> Iterator[Op]:
    """Yield variants of ``op``, each simplified in one way; repeated simplification always ends."""
    for data in _simpler_data(op):
        if data != op.data:
            yield replace(op, data=data)
    if len(op.terms) > 1:
        for n in range(len(op.terms)):
            yield replace(op, terms=op.terms[:n] + op.terms[n + 1 :])
    for n, term in enumerate(op.terms):
        shorter = (term._replace(shift=shift) for shift in _towards_zero(term.shift))
        for simpler in (*shorter, term._replace(negative=False)):
            if simpler != term:
                yield replace(op, terms=(*op.terms[:n], simpler, *op.terms[n + 1 :]))
    if op.code != INPUT and op.id1 >= 0 and not op.terms and op.id1 > op.id0:
        yield replace(op, id1=op.id0)
    for kind in _narrower(op.type):
        yield typed(op, kind)


def _simpler_data(op: Op) -> Iterator[int]:
    meaning, data = op.spec.data, op.data
    if meaning in (Data.NONE, Data.SHIFT, Data.SHIFT_ONLY, Data.TERM, Data.CONSTANT):
        yield from _towards_zero(data)
    elif meaning is Data.MUX or meaning is Data.TABLE:
        for high in _towards_zero(high_int32(data)):
            yield high << 32 | low_int32(data) & 0xFFFF_FFFF
    elif meaning is Data.BITWISE:
        word = bitwise_fields(data)
        for shift in _towards_zero(word.shift):
            yield data >> 32 << 32 | shift & 0xFFFF_FFFF
        yield data & ~(1 << 32)
        yield data & ~(1 << 33)


def _towards_zero(value: int) -> Iterator[int]:
    """Yield 0, then ``value`` reduced to its first bit, and to the first half of its bits; nothing for 0."""
    if not value:
        return
    yield 0
    sign, bits = (-1 if value < 0 else 1), abs(value)
    for dropped in (bits.bit_length() - 1, bits.bit_length() // 2):
        cut = bits >> dropped << dropped
        if cut != bits:
            yield sign * cut


def _narrower(kind: FixedType) -> Iterator[FixedType]:
    """Yield types with fewer bits, with a binary point closer to the bits, or without a sign."""
    k, i, f = kind
    if k + i > 1 and f > 0:
        yield FixedType(k, i, 0)
    for bits in (1, (i + f) // 2, i + f - 1):
        if 0 < bits < i + f:
            yield FixedType(k, bits - f, f)
    if f != 0 and i + f >= 0:
        yield FixedType(k, i + f, 0)
        yield FixedType(k, i + f - int(f / 2), int(f / 2)) if abs(f) > 1 else FixedType(k, i + f, 0)
    if k and i + f > 0:
        yield FixedType(0, i, f)


def _smaller_tables(search: Search[Case]) -> None:
    """Shorten tables at the end, and set entries to 0, as long as the case fails."""
    for number in range(len(search.case.program.tables)):
        for made in (_shorter_table, _table_of_zeros):
            _table(search, number, made)


def _table(search: Search[Case], number: int, made: Callable[[list[int], int, int], list[int]]) -> None:
    if number >= len(search.case.program.tables):
        return
    width = max(len(search.case.program.tables[number]), 1)
    while width:
        start = 0
        while number < len(search.case.program.tables) and start < len(search.case.program.tables[number]):
            tables = [table.tolist() for table in search.case.program.tables]
            new = made(tables[number], start, start + width)
            tables[number], changed = new, new != tables[number]
            if not (changed and search.consider(rebuilt(search.case, tables=tables))):
                start += width
        width //= 2


def _shorter_table(table: list[int], start: int, stop: int) -> list[int]:
    """Return ``table`` without its last entries; the others keep their positions."""
    return table[: max(len(table) - (stop - start), 1)] if start == 0 else table


def _table_of_zeros(table: list[int], start: int, stop: int) -> list[int]:
    return [0 if start <= n < stop else entry for n, entry in enumerate(table)]


def _plain_ends(search: Search[Case]) -> None:
    """Remove shifts and negations of outputs, and shifts of inputs, as long as the case fails."""
    for n in range(search.case.program.n_out):
        for simpler in ({1: 0}, {2: False}):
            outputs = list(search.case.program.outputs)
            index, shift, negated = outputs[n]
            outputs[n] = (index, simpler.get(1, shift), bool(simpler.get(2, negated)))
            search.consider(rebuilt(search.case, outputs=outputs))
    for j in range(search.case.program.n_in):
        shifts = search.case.program.inp_shift.tolist()
        if j < len(shifts) and shifts[j]:
            shifts[j] = 0
            search.consider(rebuilt(search.case, shifts=shifts))


def _simpler_numbers(search: Search[Case]) -> None:
    """Make the numbers of every vector 0 or short, with ``golden.shrink``."""
    for n in range(len(search.case.rows)):
        shrunk_vector(
            search.case.rows[n],
            lambda row, n=n: search.consider(  # type: ignore[misc]
                replace(search.case, rows=(*search.case.rows[:n], row, *search.case.rows[n + 1 :]))
            ),
        )
