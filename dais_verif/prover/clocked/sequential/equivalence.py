"""Prove by induction that two designs over one graph are equal in every cycle from power-up, for all inputs.

Registers of both sides that are equal form classes. At power-up, all registers of a class are equal. If they are equal
in some cycle, all outputs are equal in it, and after its edge all registers of a class are equal again. Memories
correspond to columns of block RAMs. Both hold the same bits at power-up, and every write to one of them is a write to
the other, at the same address. If a block RAM is then read at the address at which the memory is read, both reads give
the same value; reads of a block RAM at other addresses may give any value, and so may reads at an edge that writes the
same address.

The claim is: for every value that block RAM outputs may have at power-up, there are initial values of the uninitialised
registers and memories of the RTL such that all outputs are equal in every cycle, for all inputs. Uninitialised
registers whose initial value does not matter hold 0.

A register into which a memory is read may correspond to several block RAM outputs, selected by address bits. Registers
are added to the RTL side to keep these bits; nothing in the RTL depends on them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dais_verif.base.text import counted
from dais_verif.prover.clocked.sequential.answer import Equivalence
from dais_verif.prover.clocked.sequential.classes import Classes, Composition, Draw, split_by_states, step
from dais_verif.prover.clocked.sequential.rtl_side import (
    Column,
    Seen,
    held_by,
    hosts_of,
    kept_by_logic,
    only_set,
    same_place,
    written,
)
from dais_verif.prover.clocked.sequential.sides import Bank, BitOf, Gates, Memory, RegisterBit
from dais_verif.prover.gates.aig import FALSE, TRUE, Aig
from dais_verif.prover.gates.fraig import Fraig
from dais_verif.prover.gates.patterns import value_of

__all__ = ["first_values", "prove_equal", "unknown_start", "wrong_contents"]


#: The number of patterns of one draw; the number of edges without a split after which simulation stops; and the largest
#: number of edges.
_PATTERNS, _QUIET, _MOST_EDGES = 1536, 24, 400
#: The number of edges, each from random states, on which memories and block RAMs are compared.
_WRITING_EDGES = 60
_ROUNDS = 40

Tell = Callable[[str], None]
Hints = Mapping[str, str] | None


def prove_equal(
    graph: Aig,
    rtl: Gates,
    other: Gates,
    *,
    seconds: float,
    seed: int = 0,
    tell: Tell = lambda step: None,
    hints: Hints = None,
) -> Equivalence:
    """Prove that ``other`` has the outputs of ``rtl`` in every cycle, or say why that is not proved.

    Uninitialised registers of ``rtl`` hold 0 at power-up, or 1 if they are only ever set and ``other`` seems to have a
    constant instead. ``seconds``: solver time for each choice of initial values. ``hints``: initial classes, as
    ``Classes`` takes them; if the proof fails with these hints, it is repeated without hints.
    """
    chosen = first_values(graph, rtl, random.Random(seed), seconds=5.0)
    ones = {one.name for one, old in zip(chosen, rtl.registers, strict=True) if one.initial != old.initial}
    rtl = replace(rtl, registers=chosen)
    if not ones:
        return _proved(graph, rtl, other, seconds, seed, tell, hints)
    kept = _Work(graph, rtl, other, seconds, seed, tell, None).kept(ones)
    mixed = tuple(one._replace(initial=None) if one.name in kept else one for one in chosen)
    found = _proved(graph, replace(rtl, registers=mixed), other, seconds, seed, tell, hints)
    return _proved(graph, rtl, other, seconds, seed, tell, hints) if kept and not found.proved else found


def _proved(graph: Aig, rtl: Gates, other: Gates, seconds: float, seed: int, tell: Tell, hints: Hints) -> Equivalence:
    if hints:
        found = _Work(graph, rtl, other, seconds / 4, seed, tell, hints).proved()
        if found.proved:
            return replace(found, hinted=True)
    return _Work(graph, rtl, other, seconds, seed, tell, None).proved()


@dataclass
class _Model:
    """A graph of both sides, in which reads of block RAMs are expressed by reads of memories.

    ``claims``: named pairs of literals that must be equal wherever all invariants ``given`` are 1.
    """

    graph: Aig
    registers: list[RegisterBit]
    claims: list[tuple[str, int, int]]
    given: list[int] = field(default_factory=list)


class _Work:
    def __init__(
        self, graph: Aig, rtl: Gates, other: Gates, seconds: float, seed: int, tell: Tell, hints: Hints
    ) -> None:
        self._graph, self._other, self._tell, self._hints = graph, other, tell, hints
        self._rng = random.Random(seed)
        self._rtl = rtl
        self._end = time.monotonic() + seconds
        self._seed = seed
        self.rounds = 0
        self._banks = [bank for bank in other.banks if any(one != FALSE for one in bank.writes)]
        self._reading = self._reading_registers()

    def proved(self) -> Equivalence:
        if self._rtl.outputs.keys() != self._other.outputs.keys():
            names = sorted(f"{name}[{bit}]" for name, bit in self._rtl.outputs.keys() ^ self._other.outputs.keys())
            return Equivalence(False, f"only one side has the outputs {', '.join(names[:8])}")
        held: dict[Column, BitOf] = {}
        if self._rtl.memories and self._banks:
            held = self._columns()
        wrong = wrong_contents(self._banks, self._rtl.memories, held)
        if wrong:
            return Equivalence(False, wrong)
        model = self._model(held)
        classes = Classes(model.registers, self._hints)
        return self._decided(model, classes, len(held))

    # registers that read memories

    def _reading_registers(self) -> dict[int, tuple[RegisterBit, int, int, int]]:
        """Return, by node, the RTL registers into which a memory is read, each with memory, reading and bit."""
        bits = {
            one >> 1: (m, r, bit)
            for m, memory in enumerate(self._rtl.memories)
            for r, reading in enumerate(memory.readings)
            for bit, one in enumerate(reading.value)
        }
        found = {}
        for register in self._rtl.registers:
            read = [bits[node] for node in self._graph.behind([register.after]) if node in bits] if bits else []
            if len(read) == 1 and register.initial is None:  # it starts with the value of a block RAM output
                found[register.now >> 1] = (register, *read[0])
        return found

    # memories

    def _without_memories(self) -> tuple[dict[int, int], Composition, _Model]:
        """Return replacements, composition and a model in which one input replaces all bits read from memories."""
        graph, memories = self._graph, self._rtl.memories
        same = graph.input()
        shown = {output.name for bank in self._banks for output in bank.outputs}
        replaced = {one.now >> 1: same for one in self._other.registers if one.name in shown}
        replaced |= dict.fromkeys(self._reading, same)
        replaced |= {one >> 1: same for bank in self._banks for one in bank.read}
        replaced |= {one >> 1: same for memory in memories for reading in memory.readings for one in reading.value}
        made = Composition(graph, replaced)
        registers = [
            one._replace(now=made.at(one.now), after=made.at(one.after))
            for one in (*self._rtl.registers, *self._other.registers)
            if one.now >> 1 not in replaced
        ]
        return replaced, made, _Model(made.new, registers, [])

    def kept(self, ones: set[str]) -> set[str]:
        """Return those of ``ones``, names of RTL registers, that the other side seems to keep with initial value 0."""
        replaced, _, made = self._without_memories()
        n_rtl = sum(one.now >> 1 not in replaced for one in self._rtl.registers)
        return kept_by_logic(
            made.graph, made.registers, n_rtl, ones, self._rng, lambda _, classes: self._settle(made, classes), 0.3
        )

    def _columns(self) -> dict[Column, BitOf]:
        """Return what columns hold, found in states in which all bits read from memories are the same."""
        graph, memories = self._graph, self._rtl.memories
        replaced, made, model = self._without_memories()
        for memory in memories:  # make the inputs on which the memory depends, once for both compositions below
            for literal in (*memory.new, *memory.place):
                made.at(literal)
        # The old word is all zeros, then all ones: bits that do not depend on it are written.
        both = []
        for constant in (FALSE, TRUE):
            old = {one >> 1: constant for memory in memories for one in memory.old}
            both.append(Composition(graph, {**replaced, **old}, made.new))
            both[-1].inputs = made.inputs
            both[-1]._at |= made.inputs
        words = [[(both[0].at(bit), both[1].at(bit)) for bit in memory.new] for memory in memories]
        places = [[made.at(bit) for bit in memory.place] for memory in memories]
        banks = [
            tuple([made.at(bit) for bit in word] for word in (bank.row, bank.writes, bank.data)) for bank in self._banks
        ]
        classes = Classes(model.registers, self._hints)
        self._inductive(model, classes)
        seen = Seen(memories, self._banks)
        for _ in range(_WRITING_EDGES):
            state = step(model.graph, classes, Draw(self._rng, _PATTERNS), _PATTERNS)

            def value(literal: int, values: list[int] = state.values) -> int:
                return value_of(values, literal, _PATTERNS) << seen.count

            ones = (1 << _PATTERNS) - 1 << seen.count
            for m, word in enumerate(words):
                for bit, (zero, one) in enumerate(word):
                    seen.written[m][bit] |= value(zero) ^ value(one) ^ ones
                    seen.words[m][bit] |= value(zero)
                for n, bit in enumerate(places[m]):
                    seen.places[m][n] |= value(bit)
            for b, parts in enumerate(banks):
                for kept, part in zip((seen.rows[b], seen.writes[b], seen.data[b]), parts, strict=True):
                    for n, literal in enumerate(part):
                        kept[n] |= value(literal)
            seen.count += _PATTERNS
        return held_by(seen)

    # the model

    def _model(self, held: dict[Column, BitOf]) -> _Model:
        graph, memories = self._graph, self._rtl.memories
        replaced: dict[int, int] = {}
        for b, bank in enumerate(self._banks):
            for column, value in enumerate(bank.read):
                one = held.get((b, column))
                if one is not None:
                    replaced[value >> 1] = self._read(memories[one.memory], bank, column, one)
        added: dict[tuple[int, int, int, int], RegisterBit] = {}
        definitions: list[tuple[RegisterBit, int]] = []
        for node, (register, m, r, bit) in self._reading.items():
            hosts = hosts_of(self._banks, self._other.registers, held, m, bit)
            if not hosts:
                continue
            shown = [self._shown(added, register, m, r, bits) for _, bits in hosts]
            now = after = FALSE
            for (output, _), selected in zip(hosts, shown, strict=True):
                now = graph.either(now, graph.all([output.now, *(one.now ^ v ^ 1 for one, v in selected)]))
                after = graph.either(after, graph.all([output.after, *(one.after ^ v ^ 1 for one, v in selected)]))
            replaced[node] = now
            definitions.append((register, after))
        made = Composition(graph, replaced)
        registers = [
            one._replace(now=made.at(one.now), after=made.at(one.after))
            for one in (*self._rtl.registers, *added.values(), *self._other.registers)
            if one.now >> 1 not in replaced
        ]
        claims = [
            (f"output {name}[{bit}]", made.at(literal), made.at(self._other.outputs[name, bit]))
            for (name, bit), literal in self._rtl.outputs.items()
        ]
        claims += [
            (f"register {one.name}, the output of a block RAM", made.at(one.after), made.at(after))
            for one, after in definitions
        ]
        invariants = [one for one in self._rtl.invariants if one.first]
        claims += [(one.name, made.at(one.after), TRUE) for one in invariants]
        for (b, column), one in held.items():
            same = written(graph, self._banks[b], column, memories[one.memory], one)
            claims += [(what, made.at(first), made.at(second)) for what, first, second in same]
        return _Model(made.new, registers, claims, [made.at(one.now) for one in invariants])

    def _read(self, memory: Memory, bank: Bank, column: int, held: BitOf) -> int:
        """Return the bit that the bank reads from a column.

        This is the bit that the memory reads if both read the same place, else an arbitrary bit. The bit is also
        arbitrary if the row is written at the same edge.
        """
        value = self._graph.input()
        for reading in memory.readings:
            here = same_place(self._graph, reading.place, bank.read_row, held)
            value = self._graph.choice(here, reading.value[held.bit], value)
        same = [self._graph.differ(a, b) ^ 1 for a, b in zip(bank.row, bank.read_row, strict=True)]
        written = self._graph.both(bank.writes[column], self._graph.all(same))
        return self._graph.choice(written, self._graph.input(), value)

    def _shown(
        self,
        added: dict[tuple[int, int, int, int], RegisterBit],
        register: RegisterBit,
        memory: int,
        reading: int,
        bits: dict[int, int],
    ) -> list[tuple[RegisterBit, int]]:
        """Return added registers that keep address bits of the read, each with the value that selects one output."""
        graph, place = self._graph, self._rtl.memories[memory].readings[reading].place
        value = self._rtl.memories[memory].readings[reading].value
        zero, one = (
            Composition(graph, {literal >> 1: constant for literal in value}, graph) for constant in (FALSE, TRUE)
        )
        for made in (zero, one):
            made._at |= {node: 2 * node for node, low in enumerate(graph.low) if low < 0 and node}
            made._at |= {literal >> 1: FALSE if made is zero else TRUE for literal in value}
        taken = graph.differ(zero.at(register.after), one.at(register.after))
        found = []
        for n, wanted in bits.items():
            key = memory, reading, n, taken
            if key not in added:
                now = graph.input()
                added[key] = RegisterBit(
                    f"the address that was read, bit {n}", now, graph.choice(taken, place[n], now), 0
                )
            found.append((added[key], wanted))
        return found

    # induction

    def _settle(self, model: _Model, classes: Classes) -> None:
        """Split classes by simulation from random states until no class has been split for ``_QUIET`` edges."""
        draw = Draw(self._rng, _PATTERNS)
        quiet = 0
        held: Sequence[int] | None = None
        for edge in range(_MOST_EDGES):
            state = step(model.graph, classes, draw, _PATTERNS, held)
            quiet = 0 if classes.split(state.after) else quiet + 1
            held = state.after if edge % 12 else None
            self._tell(f"proving: edge {edge}, {len(set(classes.of))} classes of registers")
            if quiet > _QUIET:
                break

    def _inductive(self, model: _Model, classes: Classes) -> tuple[Fraig | None, Composition, int, str]:
        """Split classes until an edge provably keeps all registers of each class equal.

        Returns the swept graph, the composition behind it, the number of proved pairs, and the reason why the other
        pairs are undecided. The graph is None if the last round still split classes.
        """
        why = f"no fixed point after {_ROUNDS} rounds"
        proved = 0
        for round_ in range(_ROUNDS):
            self._settle(model, classes)
            made = Composition(model.graph, classes.stand_ins())
            pairs = []
            for number, places in classes.members().items():
                first = model.registers[places[0]] if number and places else None
                against = FALSE if first is None else made.at(first.after) ^ (first.initial or 0)
                pairs += [
                    (made.at(model.registers[place].after) ^ (model.registers[place].initial or 0), against)
                    for place in (places[1:] if number else places)
                ]
            claims = [(made.at(a), made.at(b)) for _, a, b in model.claims]
            draw = Draw(self._rng, _PATTERNS)
            fraig = Fraig(
                made.new,
                [literal for pair in (*pairs, *claims, map(made.at, model.given)) for literal in pair],
                [draw.bits() for node, low in enumerate(made.new.low) if low < 0 and node],
                _PATTERNS,
                lambda node: (),
                self._seed,
                lambda done, total, n=round_ + 1: self._tell(f"proving: round {n}, {done} of {total} nodes"),  # type: ignore[misc]
            )
            patterns: list[int] = []
            unknown = 0
            for a, b in pairs:
                found = self._differ(fraig, a, b, patterns)
                unknown += found is None
            self.rounds += 1
            if not patterns:
                proved = len(pairs)
                return fraig, made, proved, f"{counted(unknown, 'claim')} on registers undecided" if unknown else ""
            split_by_states(model.graph, classes, made, patterns)
        return None, made, 0, why

    def _decided(self, model: _Model, classes: Classes, n_columns: int) -> Equivalence:
        fraig, made, proved, why = self._inductive(model, classes)
        if fraig is not None and not why:
            for what, a, b in model.claims:
                found = self._differ(fraig, made.at(a), made.at(b), [], [made.at(one) for one in model.given])
                if found is not False:
                    why = f"{what} does not follow from the registers that correspond"
                    why = why if found else f"{what} is undecided within the time limit"
                    break
            why = why or unknown_start(
                model.graph, model.given, classes, len(model.registers) - len(self._other.registers)
            )
        return self._result(classes, not why, why, n_columns, proved + len(model.claims))

    def _differ(self, fraig: Fraig, a: int, b: int, patterns: list[int], given: Sequence[int] = ()) -> bool | None:
        """Return whether two literals can differ, None if undecided; if they can, add a pattern to ``patterns``."""
        x, y = fraig.at(a), fraig.at(b)
        if x == y:
            return False
        answer = fraig.solver.differ_within(
            x, y, [fraig.at(one) for one in given], max(self._end - time.monotonic(), 0.1)
        )
        if answer.found:
            patterns.append(fraig.pattern(answer.ones))
        return answer.found

    def _result(self, classes: Classes, proved: bool, why: str, n_columns: int, claims: int) -> Equivalence:
        n_other = len(self._other.registers)
        n_rtl = len(classes.registers) - n_other
        named: list[tuple[str, ...]] = []
        unmatched: list[str] = []
        for number, places in classes.members().items():
            names = tuple(classes.registers[place].name for place in places)
            if number and len(names) > 1:
                named.append(names)
            if number and all(place >= n_rtl for place in places):
                unmatched += names
        return Equivalence(
            proved, why, tuple(named), (n_rtl, n_other), tuple(unmatched), n_columns, claims, self.rounds
        )


# The base case of the induction: what both sides hold at power-up.


def wrong_contents(banks: Sequence[Bank], memories: Sequence[Memory], held: dict[Column, BitOf]) -> str:
    """Return a message about block RAM contents at power-up that memories cannot have; empty if all are possible."""
    first: dict[tuple[int, int], int] = {}
    for (b, column), one in held.items():
        bank, memory = banks[b], memories[one.memory]
        high = sum(value << n for n, value in one.fixed.items())
        for row in range(1 << len(bank.row)):
            place = high | sum((row >> n & 1) << to for n, to in enumerate(one.rows))
            bit = place * memory.width + one.bit
            found = bank.contents >> (row * len(bank.writes) + column) & 1
            wanted = memory.contents[bit]
            if found != (first.setdefault((one.memory, bit), found) if wanted is None else wanted):
                return f"{bank.name} and {memory.name}[{place}] hold different values at power-up"
    return ""


def unknown_start(graph: Aig, given: Sequence[int], classes: Classes, n_rtl: int) -> str:
    """Return a message about a register whose unknown value at power-up matters; empty if there is none.

    ``given``: literals of the invariants. ``n_rtl``: number of registers of the RTL, which precede the others.
    """
    needed = graph.behind(given)  # invariants fix the initial values of these registers
    for number, places in classes.members().items():
        unknown = [place for place in places if place >= n_rtl and classes.registers[place].initial is None]
        if not unknown:
            continue
        known = number == 0 or any(
            classes.registers[place].initial is not None or classes.registers[place].now >> 1 in needed
            for place in places
        )
        if known or len(unknown) > 1:
            return f"what {classes.registers[unknown[0]].name} holds at power-up is unknown, but needed"
    return ""


def first_values(graph: Aig, rtl: Gates, rng: random.Random, seconds: float) -> tuple[RegisterBit, ...]:
    """Return the registers of ``rtl``, with initial value 1 for uninitialised ones that are only ever set.

    Such a register stays 1 if it holds 1, and can change from 0 to 1. Synthesis replaces such registers by constants,
    which is allowed since an uninitialised register may hold any value. Registers in invariants are not changed.
    ``seconds``: the limit for each call of the solver.
    """
    needed = graph.behind([one.now for one in rtl.invariants])
    places = [n for n, one in enumerate(rtl.registers) if one.initial is None and one.now >> 1 not in needed]
    ones = only_set(graph, rtl.registers, places, rng, seconds)
    return tuple(one._replace(initial=1) if place in ones else one for place, one in enumerate(rtl.registers))
