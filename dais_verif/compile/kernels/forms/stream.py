"""The stream form of an instance: one pixel per beat, line by line, and an output whenever a window is complete.

Lines are kept in consecutive memories, and registers hold as many pixels of each line as a window is wide. The part of
a window outside the image is its pad. The block is instantiated once for each member that works in a beat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from dais_verif.compile.kernels.forms.control import BIT, StreamControl, control_of
from dais_verif.compile.kernels.forms.raster import Plane, Raster, Tap, raster_of
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.printf import PrintfTap, tapped_block, variables_of
from dais_verif.spec.machine.builder import BlockViews, MachineBuilder
from dais_verif.spec.machine.model import Machine, View
from dais_verif.spec.program import FixedType, Program, assemble

__all__ = [
    "StreamForm",
    "cycle_of",
    "frame_text",
    "plane_name",
    "stream_form",
    "stream_machine",
    "stream_text",
    "valid_cycles",
]


@dataclass(frozen=True)
class StreamForm:
    """A machine, and its facts.

    ``interval``: cycles from one beat to the next. ``beats``: the number of beats in one image. ``latency``: cycles
    from the first pixel of an image to its first output, if no beat waits. ``flush``: cycles from its last pixel to its
    last output. ``line_bits``: bits of line buffers; ``window_bits``: bits of window registers. ``frame``: the text of
    a frame file, for ``diff --frame`` with the unfolded instance: all images of the instance without a pause.
    ``stream``: the text of a file for ``emit --wrap axis --stream``.
    """

    machine: Machine
    interval: int
    beats: int
    latency: int
    flush: int
    line_bits: int
    window_bits: int
    frame: str
    stream: str


def stream_form(instance: KernelInstance, *, printf: bool = False) -> StreamForm:
    """Return the stream form of an instance. Raises ``InputError`` that names the unsuitable part of its mapping.

    ``printf``: add outputs ``tap_valid``, which is ``valid_out``, and ``tap``, the variables of the messages of all
    members of the beat, one member after the other (``members_by_beat``).
    """
    raster = raster_of(instance)
    machine = stream_machine(instance, raster, control_of(raster), instance.taps if printf else None)
    x, y = raster.x, raster.y
    first, final = (line * x.size + column for line, column in ((y.anchor, x.anchor), (y.final, x.final)))
    bits = {
        prefix: sum(kind.width for s in machine.registers if s.name.startswith(prefix) for kind in s.types)
        for prefix in ("lines", "window")
    }
    return StreamForm(
        machine,
        interval=1,
        beats=raster.beats,
        latency=first + raster.delay,
        flush=max(final + raster.delay - (raster.beats - 1), 0),
        line_bits=bits["lines"],
        window_bits=bits["window"],
        frame=frame_text(raster),
        stream=stream_text(raster),
    )


def stream_machine(
    instance: KernelInstance, raster: Raster, control: StreamControl, taps: Sequence[PrintfTap] | None = None
) -> Machine:
    """Return the machine of a raster and its control; ``taps``: messages whose variables are additional outputs."""
    return _Stream(instance, raster, control, taps).machine


class _Stream:
    def __init__(
        self, instance: KernelInstance, raster: Raster, control: StreamControl, tapped: Sequence[PrintfTap] | None
    ) -> None:
        self.instance, self.raster, self.made = instance, raster, MachineBuilder()
        made = self.made
        types = zip(raster.inputs, instance.input_types, strict=True)
        self.beats = [made.input(plane_name("x", raster.inputs, n), [k] * p.count) for n, (p, k) in enumerate(types)]
        valid, enable = made.input("valid_in", BIT), made.input("en", BIT)
        self.signals = {"valid_out": valid}
        if not raster.pointwise:
            self.reset = made.input("rst", BIT)
            self.signals = self._control(control, valid, enable)
        self.outside, self.shifting = control.outside, control.shifting
        taps = self._taps()
        block = tapped_block(instance.block, tapped or ())
        cores = []
        for number, ports in enumerate(raster.taps):
            core = made.block(f"core{number}" if len(raster.taps) > 1 else "core", block)
            cores.append(core)
            for port, tap in enumerate(ports):
                # Inputs that the block does not use have no bits.
                made.connect(self.beats[0][0] if tap is None else taps[tap], core.inputs[port])
        self._outputs(cores)
        if tapped is not None:
            self._printed(cores, variables_of(instance.block, tapped))
        self.machine = made.build()

    def _control(self, control: StreamControl, valid: View, enable: View) -> dict[str, View]:
        """Add the counters and the block of control; return the counters and the block's other outputs by name."""
        made = self.made
        block = made.block("control", control.program)
        made.connect(valid, block.inputs[0])
        made.connect(enable, block.inputs[1])
        found = {name: block.outputs[place] for place, name in enumerate(control.names)}
        for place, (name, counter) in enumerate(control.counters.items()):
            register = made.register(name, counter.type, initial=counter.initial, reset=self.reset)
            made.connect(register, block.inputs[2 + place])
            made.connect(found[name], register, enable=found["take" if counter.taken else "go"])
            found[name] = register
        return found

    def _taps(self) -> dict[Tap, View]:
        """Return the value of each tap of all windows, pads included."""
        taps = dict.fromkeys(tap for ports in self.raster.taps for tap in ports if tap is not None)
        shown: dict[Tap, View] = {}
        for number in range(len(self.raster.inputs)):
            shown |= self._window(number, [tap for tap in taps if tap.tensor == number and self._there(tap)])
        return shown | self._padded([tap for tap in taps if tap not in shown or self._edges(tap)], shown)

    def _there(self, tap: Tap) -> bool:
        """Return True if a tap is inside the image for some output."""
        raster = self.raster
        return tap.place is not None and raster.x.inside(tap.column) and raster.y.inside(tap.row)

    def _edges(self, tap: Tap) -> list[str]:
        """Return the names of the control bits that are 1 when a tap is outside of the image."""
        return [name for name in (f"column{tap.column}", f"line{tap.row}") if name in self.outside]

    def _window(self, number: int, taps: list[Tap]) -> dict[Tap, View]:
        """Add lines and registers of an input, as many as ``taps`` need."""
        made, raster, count = self.made, self.raster, self.raster.inputs[number].count
        kind, go = self.instance.input_types[number], self.signals.get("go")
        suffix = str(number) if len(raster.inputs) > 1 else ""
        x, y = raster.x, raster.y
        slack = raster.delay - (y.last - y.anchor) * x.size - (x.last - x.anchor)
        behind = {tap: (y.last - tap.row, x.last - tap.column + slack) for tap in taps}
        found: dict[Tap, View] = {}
        source = self.beats[number]
        for line in range(max((line for line, _ in behind.values()), default=-1) + 1):
            if line:
                name = f"lines{suffix}_{line}"
                memory = made.register(name, [kind] * (count * x.size), initial=0, reset=self.reset)
                word, last = memory[0:count], memory[count * (x.size - 1) :]
                if self.shifting and x.size > 1:
                    made.connect(memory[0 : count * (x.size - 1)], memory[count:], enable=go)
                elif x.size > 1:
                    word = last = word.at(self.signals.get("slot", self.signals["column"]))
                made.connect(source, word, enable=go)
                source = last
            here = {tap: column for tap, (at, column) in behind.items() if at == line}
            deep = max(here.values(), default=0)
            if deep:
                row = made.register(f"window{suffix}_{line}", [kind] * (count * deep), initial=0, reset=self.reset)
                made.connect(source, row[0:count], enable=go)
                if deep > 1:
                    made.connect(row[0 : count * (deep - 1)], row[count : count * deep], enable=go)
            for tap, column in here.items():
                assert tap.place is not None
                found[tap] = row[count * (column - 1) + tap.place] if column else source[tap.place]
        return found

    def _padded(self, taps: list[Tap], shown: dict[Tap, View]) -> dict[Tap, View]:
        """Add the block that replaces taps outside of the image by pads, and return its outputs."""
        if not taps:
            return {}
        made, instance = self.made, self.instance
        edges = list(dict.fromkeys(name for tap in taps if tap in shown for name in self._edges(tap)))
        read = [tap for tap in taps if tap in shown]
        block = made.block("pads", _pads(taps, read, [self._edges(tap) for tap in taps], edges, instance))
        for place, source in enumerate([*(self.signals[name] for name in edges), *(shown[tap] for tap in read)]):
            made.connect(source, block.inputs[place])
        return {tap: block.outputs[place] for place, tap in enumerate(taps)}

    def _outputs(self, cores: list[BlockViews]) -> None:
        made, raster = self.made, self.raster
        for number, (plane, kind) in enumerate(zip(raster.outputs, self.instance.output_types, strict=True)):
            output = made.output(plane_name("y", raster.outputs, number), [kind] * plane.count)
            for place, (member, port) in enumerate(raster.written[number]):
                made.connect(cores[member].outputs[port], output[place])
        made.connect(self.signals["valid_out"], made.output("valid_out", BIT))

    def _printed(self, cores: list[BlockViews], kinds: tuple[FixedType, ...]) -> None:
        """Add the variables of all members of a beat as outputs."""
        self.made.connect(self.signals["valid_out"], self.made.output("tap_valid", BIT))
        if kinds:
            tap = self.made.output("tap", kinds * len(cores))
            for number, core in enumerate(cores):
                part = tap[number * len(kinds) : (number + 1) * len(kinds)]
                self.made.connect(core.outputs[self.instance.block.n_out :], part)


def _pads(
    taps: list[Tap], read: list[Tap], outside: list[list[str]], edges: list[str], instance: KernelInstance
) -> Program:
    """Return a program with an output for each tap: the pad if one of its bits ``outside`` is 1, else the value.

    The value of a tap is an input if it is in ``read``; otherwise it is always the pad.
    """
    bits = {name: f"e{place}" for place, name in enumerate(edges)}
    values = {tap: f"x{place}" for place, tap in enumerate(read)}
    inputs = [*bits.values(), *values.values()]
    lines = ["input " + ", ".join(inputs)] if inputs else []
    lines += [f"{name} = u1.0 input {name}" for name in bits.values()]
    lines += [f"{name} = {instance.input_types[tap.tensor]} input {name}" for tap, name in values.items()]
    known: dict[str, str] = {}

    def value(kind: FixedType | str, expression: str) -> str:
        key = f"{kind} {expression}"
        if key not in known:
            known[key] = f"v{len(known)}"
            lines.append(f"{known[key]} = {key}")
        return known[key]

    for place, (tap, names) in enumerate(zip(taps, outside, strict=True)):
        kind = instance.input_types[tap.tensor]
        found = value(kind, f"raw({instance.pads[tap.tensor]})")
        if tap in values:
            condition = " or ".join(bits[name] for name in names)
            bit = value("u1.0", condition) if len(names) > 1 else condition
            found = value(kind, f"msb({bit}) ? {found} : {values[tap]}")
        lines.append(f"output y{place} = {found}")
    return assemble("\n".join(lines))


# Files for the machine of a stream, as TOML texts: the frame of a whole tensor, and the names of its pins.


def plane_name(letter: str, planes: tuple[Plane, ...], number: int) -> str:
    """Return the name of a tensor's signal."""
    return f"{letter}{number}" if len(planes) > 1 else letter


def frame_text(raster: Raster) -> str:
    """Return the frame of all images of a raster without a pause: ports of the unfolded instance in its order."""
    count = raster.beats
    for images in raster.images:
        count *= images
    lines = ["# All images, a pixel a cycle, line by line; some outputs come in the next frame."]
    lines += [f"cycles = {count}"]
    for key, letter, planes in (("inputs", "x", raster.inputs), ("outputs", "y", raster.outputs)):
        lines.append(f"{key} = [")
        for number, plane in enumerate(planes):
            name = plane_name(letter, planes, number)
            for place, first, last in _stretches(raster, plane, key == "outputs"):
                until = f", to = {last}" if last > first else ""
                whole = f", first = {place}, last = {place}" if plane.count > 1 else ""
                lines.append(f'  {{ signal = "{name}", cycle = {first}{until}{whole} }},')
        lines.append("]")
    lines += ["held.valid_in = 1", "held.en = 1"]
    if raster.pointwise:
        return "\n".join(lines) + "\n"
    return "\n".join([*lines, "held.rst = 0", "stall.en = 0", "stall.rst = 0", "reset.rst = 1"]) + "\n"


def valid_cycles(raster: Raster) -> dict[int, int]:
    """Return the required values of ``valid_out`` in the cycles in which outputs of a frame may come."""
    count = raster.beats
    for images in raster.images:
        count *= images
    given = {
        cycle_of(raster, list(scanned), True)
        for plane in raster.outputs
        for scanned in product(*(range(plane.tensor.sizes[d]) for d in plane.scanned))
    }
    first = min(given)
    return {cycle: int(cycle in given) for cycle in range(first, first + count)}


def stream_text(raster: Raster) -> str:
    """Return the pins, for ``emit --wrap axis --stream``."""
    lines = ['valid_in = "valid_in"', 'valid_out = "valid_out"', 'enable = "en"']
    return "\n".join(lines if raster.pointwise else [*lines, 'reset = "rst"']) + "\n"


def _stretches(raster: Raster, plane: Plane, output: bool) -> Iterator[tuple[int, int, int]]:
    """Yield stretches that cover a tensor in NumPy's order: the place in a beat, and the first and the last cycle."""
    sizes = plane.tensor.sizes
    begun: tuple[int, int, int] | None = None
    for element in product(*map(range, reversed(sizes))):
        position = element[::-1]
        place = plane.place(position)
        assert place is not None
        cycle = cycle_of(raster, [position[d] for d in plane.scanned], output)
        if begun is not None and begun[0] == place and begun[2] + 1 == cycle:
            begun = place, begun[1], cycle
            continue
        if begun is not None:
            yield begun
        begun = place, cycle, cycle
    if begun is not None:
        yield begun


def cycle_of(raster: Raster, scanned: list[int], output: bool) -> int:
    """Return the cycle of a pixel of the input, or of the output, by its scanned coordinates, if no beat waits."""
    across = len(scanned) - len(raster.images)
    x, y = [*scanned[:across], 0, 0][:2]
    image = 0
    for count, number in reversed(list(zip(raster.images, scanned[across:], strict=True))):
        image = image * count + number
    if output:
        x, y = raster.x.stride * x + raster.x.anchor, raster.y.stride * y + raster.y.anchor
    return (image * raster.y.size + y) * raster.x.size + x + (raster.delay if output else 0)
