"""The stages of a network in order; a fused node has a variant for each way in which configurations compute it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dais_verif.compile.kernels.block_inputs import join
from dais_verif.compile.networks.hardware.perforation import is_perforated, perforated_stages
from dais_verif.compile.networks.hardware.stages import (
    Part,
    Stage,
    Storage,
    as_problem,
    parts_of_network,
    stage_of_part,
)
from dais_verif.compile.networks.lowering import Lowering
from dais_verif.compile.networks.model import Network
from dais_verif.compile.networks.problems import NetworkError, Refusal
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.opcodes import Code

__all__ = ["Chain", "Place", "Storage", "Variant", "chain_of"]


@dataclass(frozen=True)
class Variant:
    """The stages of a fused node in some configurations. ``chosen``: the numbers of these configurations."""

    stages: tuple[Stage, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """A fused node. ``output``: the tensor that all variants write, with elements of ``type``."""

    fused: int | None
    variants: tuple[Variant, ...]
    output: str
    type: FixedType


@dataclass(frozen=True)
class Chain:
    """The stages of a network in all its configurations. ``places``: in topological order.

    ``inputs``, ``outputs``: names and types of the network's inputs and outputs. ``storage``: the layout of each
    tensor that stages read or write. A tensor that is a mere copy of another one is listed under the name of the other.
    """

    networks: tuple[Network, ...]
    places: tuple[Place, ...]
    inputs: Mapping[str, FixedType]
    outputs: Mapping[str, FixedType]
    storage: Mapping[str, Storage]

    def stages(self, configuration: int) -> list[Stage]:
        """Return the stages that run in a configuration, in order."""
        return [
            stage
            for place in self.places
            for variant in place.variants
            if configuration in variant.chosen
            for stage in variant.stages
        ]


Perforated = Callable[[Network, Part, Mapping[str, FixedType]], tuple[Stage, Stage]]


def chain_of(
    networks: Sequence[Network], unrolled: Sequence[int] = (), *, perforated: Perforated = perforated_stages
) -> Chain:
    """Return the stages of a network in all its configurations. ``networks``: the network under each configuration.

    ``unrolled``: numbers of fused nodes that one member computes. ``perforated``: a function that returns the stages of
    a part that begins with a perforated convolution. Raises ``NetworkError`` with node and reason for a part that
    cannot be a stage.
    """
    return _Chaining(networks, unrolled, perforated).chain()


class _Chaining:
    def __init__(self, networks: Sequence[Network], unrolled: Sequence[int], perforated: Perforated) -> None:
        self.networks, self.unrolled, self.perforated = networks, unrolled, perforated
        first = networks[0]
        self.inputs = {name: _type(first, name) for name in first.inputs}
        self.types = dict(self.inputs)
        self.names: dict[str, str] = {}
        self.storage = {name: Storage.of(first.tensors[name].shape) for name in first.inputs}
        self.used: set[str] = set()

    def chain(self) -> Chain:
        """Return the chain, built place after place."""
        first, places = self.networks[0], list[Place]()
        parts = [parts_of_network(network, self.unrolled) for network in self.networks]
        for at in range(len(parts[0])):
            place = self.place([of_network[at] for of_network in parts])
            if place is not None:
                places.append(place)
        outputs = {self.names.get(name, name): name for name in first.outputs}
        if len(outputs) < len(first.outputs):
            raise NetworkError(f"two outputs of {', '.join(first.outputs)} are one tensor, which a machine has once")
        for name in outputs:
            if name in self.inputs or all(place.output != name for place in places):
                raise NetworkError(
                    f"output {outputs[name]!r} is not computed by any node: there is nothing to build for it"
                )
        return Chain(
            tuple(self.networks), tuple(places), self.inputs, {n: self.types[n] for n in outputs}, self.storage
        )

    def place(self, parts: Sequence[list[Part]]) -> Place | None:
        """Return a fused node; None if it computes nothing. ``parts``: its parts in each configuration."""
        by_knobs: dict[tuple[object, ...], list[int]] = {}
        for number, listed in enumerate(parts):
            lowering = Lowering(self.networks[number])
            knobs = tuple(lowering.applied(node) for part in listed for node in part.nodes)
            by_knobs.setdefault(knobs, []).append(number)
        output = parts[0][-1].output
        made = [(self.lowered(self.networks[chosen[0]], parts[chosen[0]]), chosen) for chosen in by_knobs.values()]
        (lean, source), *others = [_without_copies(self.networks[0], stages) for stages, _ in made]
        if not lean and not others:
            self.names[output] = self.names.get(source, source)
            self.types[output] = self.types[source]
            return None
        short = [lean, *(stages for stages, _ in others)]
        made = [(few or stages, chosen) for few, (stages, chosen) in zip(short, made, strict=True)]
        kind = join([stages[-1].type for stages, _ in made])
        self.types[output] = kind
        variants = []
        for number, (stages, chosen) in enumerate(made):
            last = stages[-1]
            widened = replace(last, instance=replace(last.instance, output_types=(kind,)))
            own = f"{number}:" if len(made) > 1 else ""
            variants.append(Variant(tuple(self.named([*stages[:-1], widened], output, own)), tuple(chosen)))
        return Place(parts[0][0].fused, tuple(variants), output, kind)

    def lowered(self, network: Network, parts: Sequence[Part]) -> list[Stage]:
        """Return the stages of a fused node in one network."""
        types, found = dict(self.types), list[Stage]()
        for part in parts:
            try:
                if is_perforated(network, part):
                    found += self.perforated(network, part, types)
                else:
                    found.append(stage_of_part(network, part, types))
            except Refusal as reason:
                raise as_problem(part, reason) from None
            types |= {stage.output: stage.type for stage in found[-2:]}
        return found

    def named(self, stages: Sequence[Stage], output: str, own: str) -> list[Stage]:
        """Return the stages under unique names. ``own``: a prefix for the names of tensors between the stages."""
        within = {stage.output: f"{own}{stage.output}" for stage in stages[:-1]}
        found = []
        for stage in stages:
            inputs = tuple(within.get(name) or self.names.get(name, name) for name in stage.inputs)
            name = self.unique(stage.name)
            instance = replace(stage.instance, name=name)
            written = within.get(stage.output, output)
            self.storage[written] = stage.storage
            found.append(replace(stage, name=name, inputs=inputs, output=written, instance=instance))
        return found

    def unique(self, name: str) -> str:
        """Return a name for the signals of a stage that no other stage has."""
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60] or "node"
        plain = plain if not plain[0].isdigit() else f"n{plain}"
        found, number = plain, 2
        while found in self.used:
            found, number = f"{plain}_{number}", number + 1
        self.used.add(found)
        return found


def _type(network: Network, name: str) -> FixedType:
    kind = network.tensors[name].type
    assert kind is not None  # every input has a type
    return kind


def _without_copies(network: Network, stages: Sequence[Stage]) -> tuple[list[Stage], str]:
    """Return the stages that are not mere copies, and the tensor with the result; if all are, the copied tensor."""
    found, names = list[Stage](), dict[str, str]()
    for stage in stages:
        inputs = tuple(names.get(name, name) for name in stage.inputs)
        if _copies(network, stage):
            names[stage.output] = inputs[0]
        else:
            found.append(replace(stage, inputs=inputs))
    last = stages[-1].output
    if found and last in names:
        # Stages of other nodes read the result under this name.
        found[-1] = replace(found[-1], output=last)
    return found, names.get(last, last)


def _copies(network: Network, stage: Stage) -> bool:
    """Return True if a stage writes its input unchanged, element by element in the same order."""
    instance = stage.instance
    block, mapping = instance.block, instance.mapping
    if len(mapping.inputs) != 1 or instance.input_types != instance.output_types or block.n_in != block.n_out:
        return False
    # An image needs one word per pixel, so a change of shape is not a mere copy.
    if len(stage.shape) == 4 and network.tensors[stage.inputs[0]].shape != stage.shape:
        return False
    source, target = mapping.inputs[0], mapping.outputs[0]
    if len(source.sizes) > 1 and (source.sizes != target.sizes or source.pattern.dims[:2] != target.pattern.dims[:2]):
        return False
    return all(
        index >= 0 and block.ops[index].code == Code.INPUT and block.ops[index].id0 == at and not shift and not negative
        for at, (index, shift, negative) in enumerate(block.outputs)
    )
