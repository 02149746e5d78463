"""A network with memories: one machine per stage, which run in turn and write into the memories of their readers.

``start`` runs all stages; ``done`` is 1 for one cycle when the outputs are available. A stage begins when the one
before it is done. It writes its result, word after word, into the memories of all stages that read it and, if the
result is an output of the network, into the memory of that output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dais_verif.base.errors import NetworkInputError
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.kernels.forms.control import BIT, Logic, unsigned
from dais_verif.compile.kernels.forms.memory import MOST_WORDS, MemoryFacts, MemoryTiming, address_bits, memory_form
from dais_verif.compile.networks.hardware.chain import Chain
from dais_verif.compile.networks.hardware.stages import Stage
from dais_verif.spec.machine import Machine, MachineBuilder, View
from dais_verif.spec.machine.edits import embed
from dais_verif.spec.program import FixedType

__all__ = ["MemoryNetwork", "StageFacts", "memory_latency", "memory_network"]


@dataclass(frozen=True)
class StageFacts:
    """A stage and its cost. ``configurations``: the numbers of configurations in which it runs."""

    name: str
    fused: int | None
    members: int
    ops: int
    configurations: tuple[int, ...]
    facts: MemoryFacts


@dataclass(frozen=True)
class MemoryNetwork:
    """A network with memories, as a machine.

    ``latency``: cycles from start to done, per configuration. ``words``, ``bits``: the size of all memories.
    """

    machine: Machine
    stages: tuple[StageFacts, ...]
    latency: tuple[int, ...]
    words: int
    bits: int


class _Writing(NamedTuple):
    """A write port of a tensor: whether a word is written, its address, and its elements."""

    enable: View
    address: View
    data: View


def memory_network(chain: Chain, parallel: int = 1) -> MemoryNetwork:
    """Return the machine of a network with memories, and its facts.

    Inputs: ``start``, ``rst``, for each input t ``in<t>_write``, ``in<t>_address`` and ``in<t>_data``, and for each
    output t ``out<t>_address``. Outputs: ``busy``, ``done``, and ``out<t>_data``, the word at the address of the
    previous cycle. With several configurations there is an input ``config``, which is sampled with ``start``.
    ``parallel``: the number of members of a stage that work in parallel, if its index space has that many. Raises
    ``InputError`` like ``memory_form``.
    """
    return _Memories(chain, parallel).built()


def memory_latency(chain: Chain, parallel: int = 1) -> tuple[int, ...]:
    """Return the ``latency`` of ``memory_network``, with the same errors, but without building a machine."""
    return tuple(
        1 + sum(_latency(chain, stage, parallel) for stage in chain.stages(number))
        for number in range(len(chain.networks))
    )


def _latency(chain: Chain, stage: Stage, parallel: int) -> int:
    geometry = stage.instance.mapping.geometry
    timing = MemoryTiming.of(stage.instance, min(parallel, max(geometry)), _words(chain, stage))
    return timing.latency([(0, size) for size in geometry])


def _words(chain: Chain, stage: Stage) -> tuple[list[int], list[int]]:
    """Return the elements per word of the inputs and outputs of a stage."""
    return [chain.storage[name].channels for name in stage.inputs], [stage.storage.channels]


class _Memories:
    def __init__(self, chain: Chain, parallel: int) -> None:
        self.chain, self.parallel, self.made = chain, parallel, MachineBuilder()
        self.facts: list[StageFacts] = []
        self.writers: dict[str, list[_Writing]] = {}
        self.readers: dict[str, list[_Writing]] = {}

    def built(self) -> MemoryNetwork:
        """Build ports, stages in order, and connections between them."""
        made, chain = self.made, self.chain
        start, rst = made.input("start", BIT), made.input("rst", BIT)
        count = len(chain.networks)
        config = made.input("config", unsigned(count - 1)) if count > 1 else None
        for t, (name, kind) in enumerate(chain.inputs.items()):
            ports = (("write", BIT), ("address", self.address(name)), ("data", self.word(name, kind)))
            self.writers[name] = [_Writing(*(made.input(f"in{t}_{what}", one) for what, one in ports))]
        busy = made.register("busy", BIT, initial=0, reset=rst, output=True)
        done = made.register("done", BIT, initial=0, reset=rst, output=True)
        go, now, following = self.control(start, busy, config)
        made.connect(following, busy)
        for place, one in enumerate(chain.places):
            finished = []
            for variant in one.variants:
                mine = self.chosen(place, go, now, variant.chosen) if len(one.variants) > 1 else go
                for stage in variant.stages:
                    mine = self.stage(stage, variant.chosen, mine, rst)
                finished.append(mine)
            go = self.any_of(f"go{place + 1}", finished)
        made.connect(go, self.finished)
        made.connect(go, done)
        for t, (name, kind) in enumerate(chain.outputs.items()):
            self.output(t, name, kind)
        for name, readers in self.readers.items():
            self.wire(name, readers)
        latency = tuple(
            1 + sum(one.facts.latency for one in self.facts if number in one.configurations) for number in range(count)
        )
        own = {name: 1 << self.address(name).width for name in chain.outputs}
        words = sum(one.facts.words for one in self.facts) + sum(own.values())
        bits = sum(one.facts.bits for one in self.facts)
        bits += sum(own[name] * kind.width * chain.storage[name].channels for name, kind in chain.outputs.items())
        return MemoryNetwork(made.build(), tuple(self.facts), latency, words, bits)

    def control(self, start: View, busy: View, config: View | None) -> tuple[View, View, View]:
        """Return whether the first stage begins, the configuration, and whether the network is busy next cycle."""
        made = self.made
        self.finished = made.wire("finished", BIT)
        b = Logic()
        asked, running, over = b.input(BIT), b.input(BIT), b.input(BIT)
        first = b.both(asked, b.inverse(running))
        outputs, sources = (
            [(first, BIT), (b.choice(running, b.inverse(over), asked), BIT)],
            [start, busy, self.finished],
        )
        if config is not None:
            kind = unsigned(len(self.chain.networks) - 1)
            chosen = made.register("chosen", kind, initial=0)
            outputs.append((b.choice(first, b.input(kind), b.input(kind)), kind))
            sources += [config, chosen]
        found = self.block("control", b, outputs, sources)
        if config is not None:
            made.connect(found[2], chosen)
        return found[0], found[-1], found[1]

    def chosen(self, place: int, go: View, now: View, configurations: Sequence[int]) -> View:
        """Return a bit that is 1 when a place begins in one of ``configurations``."""
        b = Logic()
        begins, number = b.input(BIT), b.input(unsigned(len(self.chain.networks) - 1))
        asked = b.both(begins, b.among(number, sorted(configurations)))
        return self.block(f"begin{place}_{configurations[0]}", b, [(asked, BIT)], [go, now])

    def any_of(self, name: str, bits: Sequence[View]) -> View:
        """Return a bit that is 1 if one of ``bits`` is 1."""
        if len(bits) == 1:
            return bits[0]
        b, found = Logic(), Logic().zero
        for _ in bits:
            found = b.either(found, b.input(BIT))
        return self.block(name, b, [(found, BIT)], bits)

    def block(self, name: str, b: Logic, outputs: Sequence[tuple[Value, FixedType]], sources: Sequence[View]) -> View:
        """Add a control block, and return its outputs."""
        block = self.made.block(name, b.build_as(outputs))
        first = 0
        for source in sources:
            self.made.connect(source, block.inputs[first : first + source.size])
            first += source.size
        return block.outputs

    def stage(self, stage: Stage, configurations: Sequence[int], start: View, rst: View) -> View:
        """Add the machine of a stage, which begins when ``start`` is 1, and return its output ``done``."""
        made, instance = self.made, stage.instance
        geometry = instance.mapping.geometry
        machine, facts = memory_form(instance, min(self.parallel, max(geometry)), words=_words(self.chain, stage))
        # The stage's result goes into the memories of its readers, so the stage has no output memory.
        views = embed(made, machine, f"{stage.name}_", without=_KEPT)
        made.connect(start, views["start"])
        made.connect(rst, views["rst"])
        for d, size in enumerate(geometry):
            for what, number in ((f"begin{d}", 0), (f"end{d}", size)):
                kind = machine.signals[what].types
                made.connect(made.register(f"{stage.name}_{what}_all", kind, initial=number), views[what])
        for t, name in enumerate(stage.inputs):
            self.readers.setdefault(name, []).append(_Writing(*(views[f"in{t}_{what}"] for what in _PORT)))
        written = _Writing(views["out0_write"], views["out0_written"], views["out0_result"][0 : stage.storage.channels])
        self.writers.setdefault(stage.output, []).append(written)
        own = 1 << machine.signals["out0_address"].types[0].width
        facts = replace(
            facts, words=facts.words - own, bits=facts.bits - own * stage.type.width * stage.storage.channels
        )
        known = StageFacts(stage.name, stage.fused, facts.members, instance.block.n_ops, tuple(configurations), facts)
        self.facts.append(known)
        return views["done"]

    def output(self, t: int, name: str, kind: FixedType) -> None:
        """Add the memory of an output of the network."""
        made, address, kinds = self.made, self.address(name), self.word(name, kind)
        if 1 << address.width > MOST_WORDS:
            raise NetworkInputError(f"output {name!r} has {self.chain.storage[name].words} words, beyond {MOST_WORDS}")
        memory = made.register(f"out{t}", kinds * (1 << address.width), initial=0)
        enable, place, data = (
            made.wire(f"out{t}_{what}", one) for what, one in (("write", BIT), ("written", address), ("result", kinds))
        )
        made.connect(data, memory[0 : len(kinds)].at(place), enable=enable)
        read = made.register(f"out{t}_data", kinds, initial=0, output=True)
        made.connect(memory[0 : len(kinds)].at(made.input(f"out{t}_address", address)), read)
        self.readers.setdefault(name, []).append(_Writing(enable, place, data))

    def address(self, name: str) -> FixedType:
        """Return the type of addresses of a tensor."""
        return address_bits(self.chain.storage[name].places)

    def word(self, name: str, kind: FixedType) -> tuple[FixedType, ...]:
        """Return the types of the elements in a word of a tensor."""
        return (kind,) * self.chain.storage[name].channels

    def wire(self, name: str, readers: Sequence[_Writing]) -> None:
        """Connect the writers of a tensor to all its ``readers``; at most one of them writes in a cycle."""
        writers = self.writers[name]
        source = writers[0] if len(writers) == 1 else self.merged(name, writers)
        for reader in readers:
            for one, target in zip(source, reader, strict=True):
                self.made.connect(one, target)

    def merged(self, name: str, writers: Sequence[_Writing]) -> _Writing:
        """Return a write port that forwards the active one of ``writers``."""
        number, place = next((at, one) for at, one in enumerate(self.chain.places) if one.output == name)
        b, address, kinds = Logic(), self.address(name), self.word(name, place.type)
        there, at, word = b.zero, b.zero, [b.zero] * len(kinds)
        for _ in writers:
            enable, where, found = b.input(BIT), b.input(address), [b.input(kind) for kind in kinds]
            there, at = b.either(there, enable), b.choice(enable, where, at)
            word = [b.choice(enable, one, other) for one, other in zip(found, word, strict=True)]
        sources = [view for writer in writers for view in writer]
        outputs = [(there, BIT), (at, address), *zip(word, kinds, strict=True)]
        merged = self.block(f"merge{number}", b, outputs, sources)
        return _Writing(merged[0], merged[1], merged[2:])


#: Signals of a stage's own output memory, which is left out because its readers have the result.
_KEPT = ("out0", "out0_address", "out0_data")
_PORT = ("write", "address", "data")
