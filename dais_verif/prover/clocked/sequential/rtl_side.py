"""RTL as gates; an array that is written in whole words becomes a memory if all its uses are supported."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from dais_verif.base.errors import ProofError
from dais_verif.prover.clocked.machines.registers import Open
from dais_verif.prover.clocked.sequential.classes import Classes, Draw, evaluated, step
from dais_verif.prover.clocked.sequential.sides import (
    Bank,
    BitOf,
    Gates,
    Invariant,
    Memory,
    Port,
    Reading,
    RegisterBit,
)
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.fraig import Fraig
from dais_verif.prover.gates.patterns import simulate, value_of
from dais_verif.prover.netlist import Cone, Signal
from dais_verif.prover.terms import (
    Term,
    band,
    bnot,
    const,
    extract,
    leaves,
    mul,
    nodes,
    rebuild,
    resize,
    sub,
    ult,
    var,
)

__all__ = [
    "Column",
    "Seen",
    "held_by",
    "hosts_of",
    "in_column",
    "kept_by_logic",
    "only_set",
    "rtl_gates",
    "same_place",
    "written",
]


#: The least number of bits of an array that is treated as a memory.
_LEAST_MEMORY = 512


def rtl_gates(opened: Open, graph: Aig, inputs: dict[Port, int], clock: str) -> Gates:
    """Return ``opened`` as gates of ``graph``; missing inputs are added to ``inputs``, which both sides share.

    Undefined bits may have any value, and another one in each cycle. Raises ``InputError`` for an array large enough to
    be a memory if its range is not ``[0:n]``, if it has contents at power-up, or if a use of it is not supported.
    """
    netlist = opened.netlist
    ports = [netlist.signals[name] for name in netlist.inputs if name != clock]
    variables = {signal: var(signal.width, f"rtl {signal.name}") for signal in (*ports, *opened.now.values())}

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        whole = variables.get(signal)
        return None if whole is None else extract(whole, low, width)

    cone = Cone(cut)
    outputs = {name: cone.read(netlist.signals[name], 0, netlist.signals[name].width) for name in netlist.outputs}
    after = {signal: cone.read(opened.after[signal], 0, signal.width) for signal in opened.now}
    held = {signal: variables[opened.now[signal]] for signal in opened.now}
    outputs = {name: _without_zeros(term) for name, term in outputs.items()}
    after = {signal: _without_zeros(term) for signal, term in after.items()}
    found = _memories(opened, held, after, outputs)
    given: dict[Term, Word] = {}
    for signal in ports:
        bits = [inputs.setdefault((signal.name, bit), 0) or graph.input() for bit in range(signal.width)]
        inputs.update({(signal.name, bit): literal for bit, literal in enumerate(bits)})
        given[variables[signal]] = bits
    ports_of = {memory.signal: memory for memory in found}
    for signal, variable in held.items():
        if signal not in ports_of:
            given[variable] = [graph.input() for _ in range(signal.width)]
    known = {term: value for memory in found for term, value in memory.reads.items()}
    roots = [*outputs.values(), *(after[signal] for signal in after if signal not in ports_of)]
    for memory in found:
        roots += [memory.place, memory.new, *memory.words]
    orders = [one for memory in found for one in _orders(opened, held, after, memory)]
    roots += [term for order in orders for term in (order.now, order.after)]
    if known:
        roots = [rebuild(root, known) for root in roots]
    variable_words = [word for memory in found for word in (memory.old, *memory.words.values())]
    for leaf in (*variable_words, *leaves(*roots)):
        if leaf not in given:
            given[leaf] = [graph.input() for _ in range(leaf.width)]
    words = iter(blast(graph, roots, given))
    shown = {(name, bit): one for name in outputs for bit, one in enumerate(next(words))}
    registers = [
        RegisterBit(f"{signal.name}[{bit}]", now, one, _initial(opened.initial[signal], bit))
        for signal in after
        if signal not in ports_of
        for bit, (now, one) in enumerate(zip(given[held[signal]], next(words), strict=True))
    ]
    memories = []
    for memory in found:
        place, new = next(words), next(words)
        memories.append(
            Memory(
                name=memory.signal.name,
                width=memory.width,
                place=place,
                old=given[memory.old],
                new=new,
                contents=tuple(_initial(opened.initial[memory.signal], bit) for bit in range(memory.signal.width)),
                readings=tuple(Reading(next(words), given[word]) for word in memory.words.values()),
            )
        )
    invariants = tuple(Invariant(one.name, one.first, next(words)[0], next(words)[0]) for one in orders)
    return Gates(inputs, shown, tuple(registers), tuple(memories), invariants=invariants)


def _initial(value: Term, bit: int) -> int | None:
    found = extract(value, bit, 1)
    return found.value if found.op == "const" else None


def _without_zeros(term: Term) -> Term:
    """Replace right shifts of the constant 0 by 0; such shifts remain from selects with a variable index."""
    zeros = {
        t: const(t.width, 0) for t in nodes(term) if t.op == "lshr" and t.args[0].op == "const" and not t.args[0].value
    }
    return rebuild(term, zeros) if zeros else term


class _Order(NamedTuple):
    """An invariant as one-bit terms; ``first``: whether it holds at power-up."""

    name: str
    first: bool
    now: Term
    after: Term


def _orders(opened: Open, held: dict[Signal, Term], after: dict[Signal, Term], memory: _Found) -> Iterator[_Order]:
    """Yield the invariant of a queue: its committed words are among its written words, which fit into its memory.

    A queue is a memory in a scope with registers ``head``, ``committed`` and ``tail`` that are one bit wider than its
    addresses. The names are only a hint: the invariant is proved, or not used.
    """
    scope = memory.signal.name.rpartition(".")[0]
    names = [f"{scope}.{name}" if scope else name for name in ("head", "committed", "tail")]
    signals = [opened.named.get(name) for name in names]
    found = [one for one in signals if one in held]
    width = memory.place.width + 1
    if len(found) < len(names) or any(one.width != width for one in found):
        return
    starts = []
    for one in found:
        bits = [_initial(opened.initial[one], bit) or 0 for bit in range(width)]
        starts.append(const(width, sum(bit << n for n, bit in enumerate(bits))))
    first = _in_order(*starts)
    now, then = (_in_order(*(terms[one] for one in found)) for terms in (held, after))
    yield _Order(f"the order of {', '.join(names)}", first.op == "const" and first.value == 1, now, then)


def _in_order(head: Term, committed: Term, tail: Term) -> Term:
    """Return whether ``tail <= committed <= head`` and ``head - tail`` is at most the number of words."""
    room = const(head.width, 1 << (head.width - 1))
    filled = sub(head, tail)
    return band(bnot(ult(filled, sub(committed, tail))), bnot(ult(room, filled)))


class _Found(NamedTuple):
    """An array as a memory.

    ``reads``: the terms that read parts of words, each with its replacement. ``words``: the variables for words that
    are read, by place.
    """

    signal: Signal
    width: int
    place: Term
    old: Term
    new: Term
    reads: dict[Term, Term]
    words: dict[Term, Term]


def _memories(
    opened: Open, held: dict[Signal, Term], after: dict[Signal, Term], outputs: dict[str, Term]
) -> list[_Found]:
    found = []
    for signal, variable in held.items():
        first = opened.named.get(f"{signal.name}[0]")
        if first is None or signal.width < _LEAST_MEMORY or signal.width <= first.width:
            continue
        if any(_initial(opened.initial[signal], bit) is not None for bit in range(signal.width)):
            raise ProofError(
                f"{signal.name!r} has initial contents: the proof supports RAMs in RTL only without initial contents"
            )
        written = _written(signal, variable, first.width, after[signal])
        others = [term for other, term in after.items() if other is not signal]
        roots = [*others, *outputs.values(), *(written[::2] if written else ())]
        reads = _reads(signal, variable, first.width, roots)
        if written is None or reads is None:
            raise ProofError(
                f"{signal.name!r} is not a memory that the proof supports: an array [0:n] of 2**k words, written at one"
                " address per edge and read in whole words"
            )
        found.append(_Found(signal, first.width, *written, *reads))
    return found


def _written(signal: Signal, held: Term, width: int, after: Term) -> tuple[Term, Term, Term] | None:
    """Return the place that an edge writes, and its old and new word; None if the array changes in any other way."""
    count = signal.width // width
    words = list(reversed(after.args)) if after.op == "concat" else []
    if count < 2 or len(words) != count or any(word.width != width for word in words):
        return None
    found = next(_places(words[0], words[1], count), None)
    if found is None:
        return None
    place, downwards = found
    if not downwards:  # an array [n:0]
        return None
    last = count - 1
    rules = [
        (_here(word, place, number ^ last), extract(held, number * width, width)) for number, word in enumerate(words)
    ]
    if any(
        rule[0] is None or not _alike(words[0], word, rules[0], rule) for word, rule in zip(words, rules, strict=True)
    ):
        return None
    here, kept = rules[0]
    assert here is not None
    if any({here, kept} & set(nodes(word)) for word in words[1:]):  # another word depends on terms of the first
        return None
    old = var(width, f"{signal.name} where it is written")
    new = rebuild(words[0], {here: const(1, 1), kept: old})
    if rebuild(words[0], {here: const(1, 0), kept: old}) is not old or held in leaves(new, place):
        return None
    return place, old, new


def _places(a: Term, b: Term, count: int) -> Iterator[tuple[Term, bool]]:
    """Yield candidates for the address: terms compared with the first or last place in ``a``, with others in ``b``.

    The second result tells whether the place in ``a`` is the last one, as in an array ``[0:n]``, whose word 0 has the
    highest bits.
    """
    waiting, seen = [(a, b)], set()
    while waiting:
        pair = waiting.pop()
        a, b = pair
        if a is b or pair in seen:
            continue
        seen.add(pair)
        if a.op == "eq" and b.op == "eq":
            for place, number in (a.args, a.args[::-1]):
                whole = number.op == "const" and 1 << place.width == count
                if place in b.args and whole and number.value in (0, count - 1):
                    yield place, number.value != 0
        waiting += zip(a.args, b.args, strict=False)


def _here(word: Term, place: Term, number: int) -> Term | None:
    wanted = {place, const(place.width, number)}
    return next((t for t in nodes(word) if t.op == "eq" and set(t.args) == wanted), None)


def _alike(a: Term, b: Term, of_a: tuple[Term | None, Term], of_b: tuple[Term | None, Term]) -> bool:
    """Return whether terms ``a`` and ``b`` are the same, except for the place and the old word."""
    waiting, seen = [(a, b)], set()
    while waiting:
        pair = waiting.pop()
        a, b = pair
        if pair in seen:
            continue
        seen.add(pair)
        if (a is of_a[0]) != (b is of_b[0]) or (a is of_a[1]) != (b is of_b[1]):
            return False
        if a is b or a in of_a:
            continue
        if (a.op, a.width, a.data, len(a.args)) != (b.op, b.width, b.data, len(b.args)):
            return False
        waiting += zip(a.args, b.args, strict=True)
    return True


def _reads(
    signal: Signal, held: Term, width: int, roots: Sequence[Term]
) -> tuple[dict[Term, Term], dict[Term, Term]] | None:
    """Return replacements of reads, and words that are read, by place; None if the memory is used in another way."""
    values: dict[Term, Term] = {}
    words: dict[Term, Term] = {}
    for t in nodes(*roots):
        if t.op == "extract" and t.args[0].op == "lshr" and t.args[0].args[0] is held:
            place = _place(t.args[0].args[1], signal.width // width, width)
            if place is None or t.low + t.width > width:
                return None
            word = words.setdefault(bnot(place), var(width, f"{signal.name} read {len(words)}"))
            values[t] = extract(word, t.low, t.width)
    if any(held in leaves(rebuild(root, values)) for root in (*roots, *words)):
        return None
    return values, words


def _place(steps: Term, count: int, width: int) -> Term | None:
    """Return the place whose word begins at bit ``steps``, which must be place times width; None if not found."""
    size = (count - 1).bit_length()
    for t in nodes(steps):
        if t.width == size and mul(resize(t, steps.width, False), const(steps.width, width)) is steps:
            return t
    return None


# Find which bits of which memory each block RAM column holds, from edges at which both are written.
#
# The result is a proposal: a wrong one fails in the proof.


#: The number of a bank, and the number of one of its columns.
Column = tuple[int, int]

#: The least number of edges with a write of both from which a column is assigned to a memory.
_LEAST = 4


class Seen:
    """Observed signals of memories and banks: one integer per bit, with one bit per pattern."""

    def __init__(self, memories: Sequence[Memory], banks: Sequence[Bank]) -> None:
        self.count = 0
        self.places = [[0] * len(memory.place) for memory in memories]
        self.written = [[0] * memory.width for memory in memories]
        self.words = [[0] * memory.width for memory in memories]
        self.rows = [[0] * len(bank.row) for bank in banks]
        self.writes = [[0] * len(bank.writes) for bank in banks]
        self.data = [[0] * len(bank.data) for bank in banks]


def held_by(seen: Seen) -> dict[Column, BitOf]:
    """Return what each column holds; columns with unknown content have no entry."""
    found: dict[Column, BitOf] = {}
    for bank, columns in enumerate(seen.writes):
        for column, writes in enumerate(columns):
            for memory in range(len(seen.places)):
                one = _held(seen, memory, bank, column, writes)
                if one is not None:
                    found[bank, column] = one
                    break
    return found


def _held(seen: Seen, memory: int, bank: int, column: int, writes: int) -> BitOf | None:
    places = seen.places[memory]
    either = 0
    for one in seen.written[memory]:
        either |= one
    both = writes & either
    if both.bit_count() < _LEAST:
        return None
    rows: list[int] = []
    for row in seen.rows[bank]:
        fitting = [n for n, place in enumerate(places) if n not in rows and not (row ^ place) & both]
        if not fitting:
            return None
        rows.append(fitting[0])
    fixed = {}
    for number, place in enumerate(places):
        if number not in rows:
            if place & both not in (0, both):
                return None
            fixed[number] = int(place & both == both)
    data = seen.data[bank][column]
    for bit, (written, word) in enumerate(zip(seen.written[memory], seen.words[memory], strict=True)):
        if not both & ~written and not (data ^ word) & both:
            return BitOf(memory, bit, tuple(rows), fixed)
    return None


def in_column(graph: Aig, place: Sequence[int], fixed: BitOf) -> int:
    """Return a literal that is 1 if the column holds the word at ``place``."""
    return graph.all([place[n] ^ value ^ 1 for n, value in fixed.fixed.items()])


def same_place(graph: Aig, place: Sequence[int], row: Sequence[int], held: BitOf) -> int:
    """Return a literal that is 1 if the column holds the word at ``place``, in row ``row``."""
    equal = [graph.differ(place[n], bit) ^ 1 for n, bit in zip(held.rows, row, strict=True)]
    return graph.both(graph.all(equal), in_column(graph, place, held))


def written(graph: Aig, bank: Bank, column: int, memory: Memory, held: BitOf) -> list[tuple[str, int, int]]:
    """Return pairs of literals that must be equal so that an edge leaves the same bits in memory and column.

    The first pair concerns the row that the bank writes, the second a place that only the memory changes. Each pair has
    a name for messages.
    """
    old, new = memory.old[held.bit], memory.new[held.bit]
    here = same_place(graph, memory.place, bank.row, held)
    left = graph.choice(bank.writes[column], bank.data[column], old)
    what = f"what is written to {memory.name}, bit {held.bit}"
    elsewhere = graph.both(in_column(graph, memory.place, held), here ^ 1)
    changed = graph.both(elsewhere, graph.differ(old, new))
    return [(what, left, graph.choice(here, new, old)), (what, changed, FALSE)]


def hosts_of(
    banks: Sequence[Bank], registers: Sequence[RegisterBit], held: dict[Column, BitOf], memory: int, bit: int
) -> list[tuple[RegisterBit, dict[int, int]]]:
    """Return the block RAM outputs that read this bit, each with the address bits that are constant for the output."""
    named = {one.name: one for one in registers}
    found: list[tuple[RegisterBit, dict[int, int]]] = []
    for b, bank in enumerate(banks):
        for output in bank.outputs:
            ones = [held.get((b, column)) for column in output.columns]
            known = [one for one in ones if one is not None]
            if len(known) == len(ones) and all(one.memory == memory and one.bit == bit for one in known):
                fixed = [set(one.fixed.items()) for one in known]
                found.append((named[output.name], dict(set.intersection(*fixed))))
    return found


# Choose initial values of uninitialised registers that are only ever set.
#
# Synthesis replaces some of these registers by constants, and keeps others, with initial value 0. Every fixed choice
# of initial values is allowed, since an uninitialised register may hold any value. The choice made here is a guess
# from simulation; the proof then holds for this choice.


_PATTERNS = 1536
#: The number of edges on which the effect of a register is observed.
_EDGES = 12


def only_set(
    graph: Aig, registers: Sequence[RegisterBit], places: Sequence[int], rng: random.Random, seconds: float
) -> set[int]:
    """Return those of ``places`` whose registers can change from 0 to 1, but never from 1 to 0.

    ``seconds``: the limit for each call of the solver.
    """
    places = _may_stay_one(graph, registers, places, rng)
    edges = [
        (graph.both(one.now, one.after ^ 1), graph.both(one.now ^ 1, one.after))
        for one in (registers[place] for place in places)
    ]
    draw = Draw(rng, _PATTERNS)
    patterns = [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node]
    literals = [literal for pair in edges for literal in pair]
    fraig = Fraig(graph, literals, patterns, _PATTERNS, lambda node: (), 0, lambda done, total: None)

    def can_be(literal: int) -> bool | None:
        found = fraig.at(literal)
        return False if found == FALSE else fraig.solver.differ_within(found, FALSE, [], seconds).found

    return {
        place
        for place, (falls, rises) in zip(places, edges, strict=True)
        if can_be(falls) is False and can_be(rises) is True
    }


def _may_stay_one(
    graph: Aig, registers: Sequence[RegisterBit], places: Sequence[int], rng: random.Random
) -> Sequence[int]:
    """Return those of ``places`` whose registers never change from 1 to 0 on random patterns."""
    count, draw = _PATTERNS, Draw(rng, _PATTERNS)
    for _ in range(8):
        draw.again()
        values = simulate(graph, [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node], count)
        places = [
            place
            for place in places
            if not value_of(values, registers[place].now, count) & value_of(values, registers[place].after ^ 1, count)
        ]
    return places


def kept_by_logic(
    graph: Aig,
    registers: Sequence[RegisterBit],
    n_rtl: int,
    ones: Collection[str],
    rng: random.Random,
    settle: Callable[[Aig, Classes], None],
    seconds: float,
) -> set[str]:
    """Return those of ``ones``, RTL registers with assumed initial value 1, that the other side seems to keep.

    Such a register has a counterpart with initial value 0 that is set by the same conditions and affects at least the
    same registers. The first ``n_rtl`` of ``registers`` belong to the RTL. ``settle``: splits classes by simulation.
    """
    candidates = [n for n, one in enumerate(registers[:n_rtl]) if one.name in ones]
    zeros = [n for n, one in enumerate(registers) if one.initial == 0]
    constant = only_set(graph, registers, zeros, rng, seconds)
    kept = sorted(place for place in constant if place >= n_rtl)
    if not candidates or not kept:
        return set()
    # In states in which all such registers are set, the correspondence does not depend on the choice.
    steady = [one._replace(initial=1) if n in constant else one for n, one in enumerate(registers)]
    classes = Classes(steady)
    settle(graph, classes)
    nodes = {node: n for n, node in enumerate(node for node, low in enumerate(graph.low) if low < 0 and node)}
    set_by: dict[int, list[int]] = {place: [] for place in (*candidates, *kept)}
    needed_by: dict[int, set[int]] = {place: set() for place in set_by}
    draw = Draw(rng, _PATTERNS)
    for _ in range(_EDGES):
        state = step(graph, classes, draw, _PATTERNS)
        for place, seen in set_by.items():
            inputs = list(state.inputs)
            inputs[nodes[steady[place].now >> 1]] ^= (1 << _PATTERNS) - 1
            after = evaluated(graph, classes, inputs, _PATTERNS).after
            seen.append(after[place])
            needed_by[place] |= {
                classes.of[n] for n, (a, b) in enumerate(zip(state.after, after, strict=True)) if a != b and n != place
            }
    return {
        registers[place].name
        for place in candidates
        if any(set_by[one] == set_by[place] and needed_by[one] >= needed_by[place] > set() for one in kept)
    }
