"""On digits, the search finds the best of all configurations, hence none of 1,000 random draws is better.

All 784 choices are evaluated by a forward pass in NumPy, exact in float64; the golden model confirms some of them.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dais_verif.compile.approximation import KNOBS, text_of
from dais_verif.compile.approximation.convolution import fill_sources, kept_elements, weight_factor
from dais_verif.compile.networks import Network, read
from dais_verif.verbs.approximation.choices import Choice, Space
from dais_verif.verbs.approximation.tune import Search, Trial

pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
HELD = np.load(DIGITS / "held_back.npz")


def constant(network: Network, name: str, *shape: int) -> np.ndarray:
    return np.array([float(one) for one in network.constant(name) or ()]).reshape(shape)


def weights(w: np.ndarray, number: int) -> np.ndarray:
    """Return the weights under a sampling knob; a factor of 4/3 puts them on a grid that is 2 bits finer."""
    knob = KNOBS[number]
    if knob.axis != "filter":
        return w
    kept, factor = w * kept_elements(knob, *w.shape[1:]), weight_factor(knob)
    if factor != Fraction(4, 3):
        return kept * float(factor)
    unit = 4 * max(Fraction(one).denominator for one in w.ravel())
    return np.vectorize(lambda one: float(Fraction(round(Fraction(one) * factor * unit), unit)))(kept)


def layer(x: np.ndarray, w: np.ndarray, b: np.ndarray, step: float, number: int) -> np.ndarray:
    """Evaluate a convolution under a knob, bias, ReLU, 2x2 max pooling, and a 4-bit quantiser."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    y, axis = np.einsum("ncijrs,kcrs->nkij", windows, weights(w, number), optimize=True), KNOBS[number].axis
    if axis in ("rows", "columns"):
        along = 2 if axis == "rows" else 3
        sources = fill_sources(KNOBS[number], y.shape[along])
        y = np.stack([np.mean([np.take(y, at, along) for at in one], axis=0) for one in sources], axis=along)
    y = np.maximum(y + b[:, None, None], 0)
    y = y.reshape(*y.shape[:2], y.shape[2] // 2, 2, y.shape[3] // 2, 2).max((3, 5))
    found: np.ndarray = np.clip(np.round(y / step), 0, 15) * step
    return found


@pytest.mark.slow
def test_no_draw_is_better_than_the_search() -> None:
    network = read(DIGITS / "digits.onnx")
    space = Space.of(network, half=False)
    w1, w2 = constant(network, "w1_real_out", 8, 1, 3, 3), constant(network, "w2_real_out", 16, 8, 3, 3)
    b1, b2, b3 = (constant(network, f"b{n}_real_out", -1) for n in (1, 2, 3))
    w3, steps = constant(network, "w3_real_out", 64, 10), [float(constant(network, f"q{n}_scale")) for n in (1, 2)]
    table: dict[Choice, int] = {}
    for first in (11, *space.knobs[0]):
        hidden = layer(HELD["image"].astype(float), w1, b1, steps[0], first)
        for second in (11, *space.knobs[1]):
            scores = layer(hidden, w2, b2, steps[1], second).reshape(600, -1) @ w3 + b3
            table[first, second] = int((scores.argmax(axis=1) == HELD["label"]).sum())
    rows = HELD["image"].reshape(600, -1).astype(np.float64)
    trial = Trial((DIGITS / "digits.onnx").read_bytes(), rows, HELD["label"].astype(np.int64), None)
    for some in ((11, 11), (11, 130), (236, 123), (231, 233)):
        assert trial.correct(text_of(space.file_of(some)).encode()) == table[some]

    def rank(choice: Choice) -> tuple[Fraction, int]:
        return space.speedup(choice), table[choice]

    for percent in (0, 1, 2, 4):
        allowed = Fraction(percent * 600, 100)
        fitting = {choice for choice, correct in table.items() if table[space.exact] - correct <= allowed}
        rng = np.random.default_rng(0)
        drawn = {space.exact, *(space.random(rng) for _ in range(1000))} & fitting
        search = Search(space, lambda some: [table[one] for one in some], {}, allowed=allowed, tries=200, seed=0)
        found = search.run()
        assert found in fitting and len(search.known) <= 200
        assert rank(found) >= max(map(rank, drawn)) and rank(found) == max(map(rank, fitting))


def test_the_shipped_file_is_what_a_search_found() -> None:
    """The golden model confirms the chosen configuration of the shipped file and its columns."""
    from dais_verif.compile.approximation import choose, parse, read

    file = read(DIGITS / "tuned.txt", strict=True)
    best = choose(file, "1")
    assert best is not None and best.name == "k11-130" and file.configurations[0].name == "exact"
    rows = HELD["image"].reshape(600, -1).astype(np.float64)
    trial = Trial((DIGITS / "digits.onnx").read_bytes(), rows, HELD["label"].astype(np.int64), None)
    alone = parse(text_of(file).encode())["k11-130"]
    one = type(file)(file.baseline, (alone,), knobs=file.knobs)
    assert trial.correct(text_of(one).encode()) == 586
    assert float(best.accuracy) == pytest.approx(100 * 586 / 600, abs=1e-5)
