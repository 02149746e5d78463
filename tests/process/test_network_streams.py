"""Networks as streams of pixels give the results of the network, and faults in their machines are found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, NetworkInputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.kernels.forms.control import Logic
from dais_verif.compile.kernels.forms.raster import Axis, Raster
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.hardware.chain import chain_of
from dais_verif.compile.networks.hardware.driving import drive_images
from dais_verif.compile.networks.hardware.flow import Flow, joined, of_images, through
from dais_verif.compile.networks.hardware.frame import stream_frame, stream_pins, stream_signals
from dais_verif.compile.networks.hardware.stages import LeftOut, Stage
from dais_verif.compile.networks.hardware.stream import StreamNetwork, build, stream_chain, stream_network
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.golden.machine_batch import run_machine
from dais_verif.golden.stream_control import ScanState, step
from dais_verif.spec.machine import Machine
from dais_verif.verbs.diff import DiffRequest, diff
from dais_verif.verbs.networks.schedules import check_schedules
from dais_verif.verbs.tensors.timed import with_bits, with_signals

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"


class Layers:
    """A builder of a network whose layers have small weights."""

    def __init__(self, *shape: int) -> None:
        from support.onnx_networks import Build

        self.build, self.rng, self.shape = Build(), np.random.default_rng(7), shape
        self.given = self.build.input("x", [1, *shape])

    def conv(self, x: str, filters: int, channels: int, size: int = 3, **said: int) -> str:
        weights = self.rng.integers(-2, 3, size=(filters, channels, size, size))
        pads = [said.pop("pad", 0)] * 4
        shape = {name: [value] * 2 for name, value in said.items()}
        found = self.build.node("Conv", x, self.build.constant(weights), pads=pads, **shape)
        return self.build.node("Relu", self.build.quantise(found, 0))

    def even(self) -> Network:
        """Return a network with 2 by 2 windows at every second pixel, which begin and end outside of the image."""
        return self.network(self.conv(self.given, 1, 2, size=2, strides=2, pad=1))

    def pool(self, x: str) -> str:
        return self.build.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        flat = self.build.node("Flatten", x)
        return self.build.node("MatMul", flat, self.build.constant(self.rng.integers(-2, 3, size=(inputs, outputs))))

    def network(self, *outputs: str) -> Network:
        return parse(self.build.model(*outputs).SerializeToString(), inputs={"x": (1, 2, 0)})


@cache
def network(name: str) -> Network:
    if name == "dense":
        made = Layers(6)
        return made.network(made.dense(made.given, 6, 3))
    made = Layers(2, 6, 5) if name != "small" else Layers(1, 4, 4)
    x = made.given
    if name == "small":
        return made.network(made.dense(made.pool(made.conv(x, 2, 1, pad=1)), 8, 2))
    if name == "padded":  # after a pool, beats have gaps, and the second image arrives before the first is finished
        return made.network(made.conv(made.pool(made.conv(x, 2, 2, pad=1)), 2, 2, pad=1))
    if name == "stride":
        return made.network(made.conv(x, 2, 2, strides=2, pad=1))
    if name == "dilation":
        return made.network(made.conv(x, 1, 2, dilations=2, pad=2))
    if name == "residual":
        first = made.conv(x, 2, 2, pad=1)
        return made.network(made.build.node("Add", made.conv(made.conv(first, 2, 2, pad=1), 2, 2, pad=1), x))
    assert name == "two ways"
    wide, fine = made.conv(x, 2, 2, size=5, pad=2), made.conv(x, 1, 2, size=1)
    both = made.build.node("Concat", made.pool(fine), made.pool(wide), axis=1)
    return made.network(made.dense(made.conv(both, 2, 3, size=2), 4, 2))


#: Axes of windows: the pixel itself, one before and behind, with stride, at the end, and of a valid convolution.
AXES = (
    Axis(5, 5, 1, 0, 0, 0),
    Axis(4, 4, 1, -1, 1, 0),
    Axis(6, 3, 2, -1, 1, 1),
    Axis(3, 3, 1, -2, 0, 0),
    Axis(5, 3, 1, 0, 2, 2),
    Axis(1, 1, 1, 0, 0, 0),
)
NAMES = ("small", "padded", "stride", "dilation", "residual", "two ways", "dense")


def perforated(knob: int, size: int) -> Network:
    """Return a network of one convolution under a knob."""
    layers = Layers(1, size, size)
    data = layers.build.model(layers.conv(layers.given, 2, 1, pad=1)).SerializeToString()
    name = next(node.output[0] for node in onnx.load_from_string(data).graph.node if node.op_type == "Conv")
    approximation = Approximation({name: Applied(KNOBS[knob], KNOBS[11])})
    return parse(data, inputs={"x": (1, 2, 0)}, approximation=approximation)


@cache
def stream(name: str) -> StreamNetwork:
    return build(network(name))


def compared(machine: Machine, made: StreamNetwork, folder: Path, *, pause: bool = False) -> Verdict:
    """Compare the outputs of the machine with those of all members, and their timing with the stated ``valid_out``."""
    frame, timed = folder / "frame.toml", stream_signals(made, pause=pause)
    frame.write_text(with_signals(stream_frame(made, pause=pause), timed))
    members = with_bits(unfold_chain(made.chain), list(timed["valid_out"].values()))
    return diff(DiffRequest(a=machine, b=members, prove=True, frame=frame)).verdict


@pytest.mark.parametrize("name", NAMES)
def test_images_with_gaps_stalls_and_resets_give_what_the_network_does(name: str) -> None:
    """Results are right also if a pause ends while they come out, and if the next image follows directly."""
    driven_right(stream(name), network(name), 2)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 5])
def test_all_knobs_give_what_the_network_does(size: int) -> None:
    """Results are right also where a knob skips nothing, and at both edges of the image."""
    numbers = [11, 12, *range(121, 139), *range(151, 169), *range(231, 240), *range(261, 270)]
    assert len(numbers) == 56
    for knob in numbers:
        one = perforated(knob, size)
        driven_right(build(one), one, 1)


@pytest.mark.slow
def test_a_stream_stands_behind_axi4_stream(tmp_path: Path) -> None:
    """Every register has the reset that the wrapper names, and ``en`` stalls all of them."""
    made = stream("small")
    (tmp_path / "stream.toml").write_text(stream_pins())
    dais_verif.emit(made.machine, wrap="axis", stream=tmp_path / "stream.toml", output=tmp_path / "axis")
    record = dais_verif.simulate(made.machine, wrapped=tmp_path / "axis", vectors=100, simulators=["verilator"])
    assert record.passed and all(one.bits_compared for one in record.simulators)


def driven_right(made: StreamNetwork, one: Network, seeds: int) -> None:
    """Assert that random sequences of images give the results of the network's golden model."""
    program, (kind,) = one.program(), made.chain.inputs.values()
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        images = rng.integers(kind.raw_min, kind.raw_max + 1, size=(12, program.n_in))
        driven = drive_images(made, images, rng)
        given = {
            signal.name: driven.inputs[signal.name] / np.array([2.0**kind.f for kind in signal.types])
            for signal in made.machine.inputs
        }
        before = run_machine(made.machine, given).outputs
        found = driven.read({name: array[0] for name, array in before.items()})
        assert found.problem is None
        assert np.array_equal(found.tensors[0], dais_verif.run(program, images / 2.0**kind.f))


FRAMES = [(name, pause) for name in NAMES for pause in (False, True)]
#: Proved in every run: a frame that gathers its inputs, one that does not, and one with a pause.
FAST = {("dense", False), ("stride", False), ("small", True)}


@pytest.mark.parametrize(
    ("name", "pause"),
    [
        pytest.param(
            *one, id=f"{one[0]}-{'pauses' if one[1] else 'calm'}", marks=[] if one in FAST else pytest.mark.slow
        )
        for one in FRAMES
    ],
)
def test_every_frame_is_all_members_and_they_are_the_network(name: str, pause: bool, tmp_path: Path) -> None:
    made = stream(name)
    assert compared(made.machine, made, tmp_path, pause=pause) is Verdict.PASS
    if not pause:
        members = unfold_chain(made.chain)
        assert diff(DiffRequest(a=members, b=network(name).program(), prove=True)).verdict is Verdict.PASS


def without(machine: Machine, signal: str) -> Machine:
    """Return the machine without the connections that drive ``signal``, which then keeps its value."""
    left = tuple(one for one in machine.connections if one.target.signal != signal)
    assert left != machine.connections
    return replace(machine, connections=left)


FAULTS: list[tuple[str, str]] = [
    ("small", "Conv_0_given"),
    ("small", "Conv_0_out_line"),
    ("small", "MatMul_6_in0_number"),
    ("small", "MatMul_6_in0_gathered"),
    ("residual", "Add_12_wait_1"),
    ("residual", "Add_12_wait_1_count"),
]


@pytest.mark.parametrize(
    ("name", "signal"), [pytest.param(*one, marks=[] if at == 1 else pytest.mark.slow) for at, one in enumerate(FAULTS)]
)
def test_a_wrong_machine_is_found(name: str, signal: str, tmp_path: Path) -> None:
    """The proof fails if no beat is accepted, a counter stops, nothing is gathered, or beats wait in one place."""
    made = stream(name)
    assert compared(without(made.machine, signal), made, tmp_path) is not Verdict.PASS


@pytest.mark.slow
def test_frames_that_come_before_are_looked_at_one_by_one(tmp_path: Path) -> None:
    """State that is right only from later frames on is examined frame by frame; a wrong first frame is found."""
    made = stream("small")
    text, frame = stream_frame(made), tmp_path / "frame.toml"
    assert "before = 2" in text
    frame.write_text(text.replace("before = 2", "before = 0"))
    members = unfold_chain(made.chain)
    assert diff(DiffRequest(a=made.machine, b=members, prove=True, frame=frame)).verdict is Verdict.UNKNOWN
    register = made.machine.signals["MatMul_6_in0_number"]
    ahead = replace(register, initial=(Fraction(1),))
    wrong = replace(made.machine, signals={**made.machine.signals, register.name: ahead})
    assert compared(wrong, made, tmp_path) is Verdict.PROGRAMS_DIFFER


@pytest.mark.parametrize(
    "fault", ["places", *(pytest.param(name, marks=pytest.mark.slow) for name in ("axis", "none"))]
)
def test_what_is_left_out_lies_where_it_must(fault: str, tmp_path: Path) -> None:
    """The machine must skip the rows that the members skip, which are proved to be those of the network."""
    chain = stream_chain(perforated(124, 4))
    wrong = {"places": LeftOut(0, (0, 2)), "axis": LeftOut(1, (1, 3))}

    def changed(stage: Stage) -> Stage:
        return stage if stage.left_out is None else replace(stage, left_out=wrong.get(fault, stage.left_out))

    places = tuple(
        replace(place, variants=tuple(replace(one, stages=tuple(map(changed, one.stages))) for one in place.variants))
        for place in chain.places
    )
    made = stream_network(replace(chain, places=places))
    verdict = compared(made.machine, replace(made, chain=chain), tmp_path)
    assert verdict is (Verdict.PASS if fault == "none" else Verdict.PROGRAMS_DIFFER)


def join() -> Network:
    """Return a sum of two branches, each of which can be ahead of the other: 2 by 2, and 1 by 2 and then 2 by 1."""
    layers = Layers(1, 2, 2)

    def conv(x: str, rows: int, columns: int) -> str:
        weights = layers.build.constant(np.arange(1, rows * columns + 1).reshape(1, 1, rows, columns))
        return layers.build.node("Conv", x, weights, pads=[0, 0, rows - 1, columns - 1])

    x = layers.given
    return layers.network(layers.build.node("Add", conv(x, 2, 2), conv(conv(x, 1, 2), 2, 1)))


def paused(made: StreamNetwork, one: Network, pauses: Sequence[Sequence[int]]) -> bool:
    """Return whether the results are the network's, if pauses of these lengths come before the beats of each image."""
    program, (kind,) = one.program(), made.chain.inputs.values()
    images = np.random.default_rng(1).integers(kind.raw_min, kind.raw_max + 1, size=(len(pauses), program.n_in))
    beats = images.reshape(len(images), -1, made.beats).swapaxes(1, 2)
    rows, valid = list[np.ndarray](), list[int]()
    for image, lengths in zip(beats, pauses, strict=True):
        for beat, length in zip(image, lengths, strict=True):
            rows += [beats[0, 0]] * length + [beat]
            valid += [0] * length + [1]
    rows += [beats[0, 0]] * made.quiet * 2
    valid += [0] * made.quiet * 2
    given = {"x": np.array(rows) * 2.0**-kind.f, "valid_in": np.array(valid)[:, None]}
    given |= {"en": np.ones((len(rows), 1)), "rst": np.zeros((len(rows), 1))}
    found = run_machine(made.machine, given).outputs
    y = found["y"][0][found["valid_out"][0][:, 0] == 1]
    wanted = dais_verif.run(program, images * 2.0**-kind.f)
    if len(y) != len(images) * made.results:
        return False
    own = y.reshape(len(images), made.results, -1).swapaxes(1, 2).reshape(len(images), -1)
    return np.array_equal(own, wanted)


def test_a_pause_after_the_first_beat_of_an_image_loses_nothing() -> None:
    """One branch waits for the next beats of its image, and the other one gives all its outputs."""
    one = join()
    made = build(one)
    still, second = [0] * 4, [[0, length, 0, 0] for length in (1, 3, 9, 27)]
    assert all(paused(made, one, [still, lengths, still]) for lengths in second)


@pytest.mark.slow
def test_any_pauses_give_what_the_network_does() -> None:
    """Pauses of all lengths before each beat of the second image, and of others before the first one."""
    one = join()
    made = build(one)
    for at, length, first in itertools.product(range(4), range(12), (0, 2, 9)):
        lengths = [[first, 0, 0, 0], [0] * 4, [first, 0, 0, 0]]
        lengths[1][at] = length
        assert paused(made, one, lengths), lengths


def test_too_little_room_loses_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """The room that is enough for images without a pause, and for images that come alone, is not enough for others."""
    depths = joined

    def fewer(flows: Sequence[Flow]) -> tuple[Flow, list[int]]:
        return depths(flows)[0], [2, 1]

    monkeypatch.setattr("dais_verif.compile.networks.hardware.flow.joined", fewer)
    one = join()
    made, still = build(one), [0] * 4
    assert paused(made, one, [still] * 3) and paused(made, one, [still, [40, 0, 0, 0], still])
    assert not paused(made, one, [still, [0, 9, 0, 0], still])
    with pytest.raises(AssertionError):  # among the sequences that `sim` drives
        driven_right(made, one, 1)


@pytest.mark.parametrize("name", NAMES)
def test_control_is_right_in_all_states(name: str) -> None:
    assert check_schedules(stream(name)) >= stream(name).beats


def test_wrong_control_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter of the scan, of outputs, of waiting beats or of left out places that is off in some state."""
    changes: list[tuple[str, str, Callable[..., Value]]] = [
        ("dilation", "following", lambda self, counter, size: following(self, counter, max(size - 1, 1))),
        ("dilation", "either", lambda self, a, b: self.both(a, b)),
        ("residual", "some_bit", lambda self, value: self.one),
        ("small", "equal", lambda self, counter, number: equal(self, counter, number + 1)),
        ("left out", "among", lambda self, counter, numbers: among(self, counter, [*numbers, numbers[-1] + 1])),
    ]
    following, equal, among = Logic.following, Logic.equal, Logic.among
    for name, method, wrong in changes:
        one = perforated(124, 5) if name == "left out" else network(name)
        with monkeypatch.context() as patch:
            patch.setattr(Logic, method, wrong)
            with pytest.raises(AssertionError, match="dais-verif"):
                check_schedules(build(one))


def test_bounds_of_beats_hold_for_random_pauses() -> None:
    """No stream gives more or fewer beats than its bounds allow, whichever pauses come."""
    rng = np.random.default_rng(3)
    for x, y in itertools.product(AXES, AXES):
        raster = Raster(x, y, (), (), (), (), ())
        shown, bounds = raster.shown.tolist(), through(raster, of_images(raster.beats * 4))
        for _ in range(6):
            now, come, given = ScanState.first(raster), 0, 0
            busy = rng.choice([0.1, 0.5, 0.9])
            while come < raster.beats * 4:
                here = bool(rng.random() < busy)
                made = step(raster, shown, now, here)
                come, given, now = come + here, given + made.given, made.after
                assert bounds.least[come] <= given <= bounds.most[come]


def test_valid_out_is_what_is_stated() -> None:
    """``valid_out`` is as stated for an image among others, and for one that is followed by a pause."""
    made = stream("padded")
    for pause in (False, True):
        cycles = 4 * made.beats
        valid = np.ones((cycles, 1)) if not pause else (np.arange(cycles) < made.beats).astype(float)[:, None]
        given = {one.name: np.zeros((cycles, len(one.types))) for one in made.machine.inputs}
        there = run_machine(made.machine, {**given, "valid_in": valid, "en": np.ones((cycles, 1))}).outputs["valid_out"]
        for cycle, bit in stream_signals(made, pause=pause)["valid_out"].items():
            if cycle < made.given[0] + made.beats:
                assert there[0][cycle, 0] == bit, cycle


def test_what_a_stream_cannot_be_is_said_with_the_reason() -> None:
    one = network("residual")
    with raises(NetworkInputError, match="build"):
        stream_network(chain_of([one, one]))
    layers = Layers(2, 4, 4)
    two = layers.network(layers.conv(layers.given, 1, 2), layers.conv(layers.given, 1, 2))
    with pytest.raises(InputError, match=r"network.*'t\d+', 't\d+'.*memory form"):
        build(two)
    with raises(InputError):
        build(network("padded"), unrolled=[1])
    with pytest.raises(InputError, match=r"4.*0.*3 outputs.*2"):
        build(Layers(2, 4, 4).even())
