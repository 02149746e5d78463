"""Accuracies, measured columns, the choice within a budget, and whether a configuration fits a network."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from support.places import HPVM
from support.said import as_recorded, raises

from dais_verif.base.errors import ApproximationError, InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile import approximation as approx
from dais_verif.compile.approximation import Accuracy

HONK = approx.read(HPVM / "honk_best.txt")
NETWORK = [["conv", "add", "relu", "pool_max"]] * 2 + [["mul", "add"], ["softmax"]]


# accuracy


def at_least(correct: int, total: int, p: Fraction) -> Fraction:
    """Return the exact probability of at least ``correct`` successes."""
    return sum((math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(correct, total + 1)), Fraction(0))


@pytest.mark.parametrize(("correct", "total"), [(1, 1), (1, 20), (19, 20), (20, 20), (33, 50), (97, 100)])
def test_an_interval_ends_where_the_sample_becomes_too_rare(correct: int, total: int) -> None:
    low, high = (Fraction(end) / 100 for end in Accuracy(correct, total).interval())
    near, tail = Fraction(1, 10**6), Fraction(1, 40)
    assert at_least(correct, total, low) <= tail < at_least(correct, total, low + near)
    if correct < total:
        assert 1 - at_least(correct + 1, total, high) <= tail < 1 - at_least(correct + 1, total, high - near)
    else:
        assert high == 1


def test_an_interval_holds_the_accuracy_as_often_as_it_says() -> None:
    """For every true accuracy, the interval contains it with a probability of at least 95 %, computed exactly."""
    total = 30
    ends = [tuple(Fraction(end) / 100 for end in Accuracy(k, total).interval()) for k in range(total + 1)]
    found = []
    for at in range(1, 200):
        p = Fraction(at, 200)
        found.append(
            sum(
                math.comb(total, k) * p**k * (1 - p) ** (total - k)
                for k, (low, high) in enumerate(ends)
                if low <= p <= high
            )
        )
    assert min(found) >= Fraction(95, 100) > Fraction(1, 2)


def test_it_is_what_scipy_has() -> None:
    beta = pytest.importorskip("scipy.stats").beta
    for correct, total, confidence in ((345, 360, 0.95), (9865, 10_000, 0.95), (50_000, 100_000, 0.99)):
        low, high = Accuracy(correct, total).interval(confidence)
        tail = (1 - confidence) / 2
        assert low == pytest.approx(100 * beta.ppf(tail, correct, total - correct + 1), abs=1e-5)
        assert high == pytest.approx(100 * beta.ppf(1 - tail, correct + 1, total - correct), abs=1e-5)


def test_nothing_and_everything_correct() -> None:
    low, high = Accuracy(0, 10).interval()
    assert low == 0 and high == pytest.approx(100 * (1 - 0.025**0.1), abs=1e-5)
    assert Accuracy(10, 10).interval() == pytest.approx((100 - high, 100), abs=1e-5)
    assert Accuracy(1, 3).percent == Fraction(100, 3)


@pytest.mark.parametrize("wrong", [(0, 0), (3, 2), (-1, 2), (True, 2), (1.0, 2)])
def test_an_accuracy_is_of_samples(wrong: tuple[Any, Any]) -> None:
    with pytest.raises(InputError):
        Accuracy(*wrong)


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan")])
def test_a_confidence_is_between_0_and_1(confidence: float) -> None:
    with raises(InputError):
        Accuracy(1, 2).interval(confidence)


# columns


def test_measured_columns_are_written_back() -> None:
    names = [one.name for one in HONK.configurations]
    counts = {name: Accuracy(290 - at, 300) for at, name in enumerate(names)}
    file = approx.rewrite_columns(HONK, counts, dict.fromkeys(names, 1.25))
    again = approx.parse(approx.text_of(file).encode(), strict=True)
    assert again == file, "accuracies and losses add up"
    third = again["conf2"]
    assert (third.accuracy.text, third.loss.text, third.speedup.text) == ("96.0", "0.666667", "1.25")
    assert third.extra == HONK["conf2"].extra and third.energy.text == HONK["conf2"].energy.text
    assert again["conf0"].loss.text == "0.0" and again["conf0"].accuracy.text == "96.666667"
    better = approx.rewrite_columns(HONK, {**counts, "conf1": Accuracy(300, 300)})
    assert better["conf1"].loss.text == "-3.333333" and better["conf1"].speedup == HONK["conf1"].speedup


def test_every_configuration_must_be_measured() -> None:
    with raises(InputError):
        approx.rewrite_columns(HONK, {})
    counts = {one.name: Accuracy(1, 2) for one in HONK.configurations}
    with raises(InputError):
        approx.rewrite_columns(HONK, counts, {"conf0": 1.0})


def one_of(*nodes: str) -> approx.Configuration:
    lines = "\n".join(nodes)
    return approx.parse(f"+++++\nc 1 1 90 0\n{lines}\n-----\n".encode()).configurations[0]


def test_a_prediction_is_the_linear_model_of_the_tuner() -> None:
    """A prediction is as computed by hand: 900 / (400/3 + 500/1.5), with speed-ups from column 3 of the knob table."""
    one = one_of("1 gpu conv perf_fp16 151 add fp16 12", "2 gpu mul fp16 12 add fp16 1")
    costs = [[400, 0], [500, 0]]
    assert approx.predicted_speedup(one, costs) == Fraction(900) / (Fraction(400, 3) + Fraction(1000, 3))
    assert approx.predicted_speedup(one_of("1 gpu conv fp32 11 add fp32 1"), [[7, 7]]) == 1
    assert approx.predicted_speedup(one_of("1 gpu mul fp16 1"), [[7]]) == 1, "what is not set is not faster"
    assert approx.predicted_speedup(one_of("1 gpu conv samp 236"), [[7]]) == Fraction("1.33")


@pytest.mark.parametrize("costs", [[], [[1]], [[1, 2], [3]], [[0, 0]], [[-1, 2]]])
def test_costs_are_of_every_op(costs: list[list[int]]) -> None:
    with raises(ApproximationError):
        approx.predicted_speedup(one_of("1 gpu conv fp32 11 add fp32 1"), costs)


# a budget


def test_the_fastest_within_a_budget_passes() -> None:
    choice = approx.choose_within(approx.read(HPVM / "lenet_mnist.txt"), "0.05")
    assert choice.chosen is not None and choice.chosen.loss.exact <= Decimal("0.05")
    assert choice.verdict is Verdict.PASS
    as_recorded(choice.message)


def test_nothing_within_a_budget_is_exit_code_7() -> None:
    choice = approx.choose_within(HONK, -1)
    assert choice.chosen is None and choice.verdict is Verdict.NOT_SIGNED_OFF and choice.verdict.exit_code == 7
    as_recorded(choice.message)
    assert choice.nearest.loss == min(one.loss for one in HONK.configurations)


# a network


def test_a_configuration_fits_a_network_of_its_shape() -> None:
    for one in HONK.configurations:
        approx.require_fit(HONK, one, NETWORK)


@pytest.mark.parametrize(
    ("network", "line", "says"),
    [
        (
            [*NETWORK[:1], ["conv", "add", "relu"], *NETWORK[2:]],
            12,
            "2 of 'conf1' is conv + add + relu + pool_max",
        ),
        ([NETWORK[0], NETWORK[0][::-1], *NETWORK[2:]], 12, "network is pool_max + relu + add + conv"),
        (NETWORK[:3], 14, "4, softmax"),
        ([*NETWORK, ["mul"]], 10, "5 nodes: node 5, mul, is missing"),
        ([], 11, "1, conv + add + relu + pool_max"),
    ],
    ids=["shorter", "order", "fewer", "more", "none"],
)
def test_another_network_is_refused_with_both_sequences(network: list[list[str]], line: int, says: str) -> None:
    with pytest.raises(approx.ConfigurationError) as caught:
        approx.require_fit(HONK, HONK["conf1"], network)
    assert caught.value.line == line and says in str(caught.value)
    as_recorded(caught.value)


def test_nodes_must_be_numbered_as_the_runtime_finds_them() -> None:
    one = HONK["conf1"]
    moved = replace(one, nodes=(replace(one.nodes[0], id=2), *one.nodes[1:]))
    with raises(approx.ConfigurationError):
        approx.require_fit(HONK, moved, NETWORK)


def test_real_files_fit_no_others_network() -> None:
    """Of the networks of the real files, only two small ones have the same operations."""
    files = [approx.read(path) for path in sorted(HPVM.glob("*.txt")) if path.name != "global_knobs.txt"]
    shapes = [[[op.op for op in node.ops] for node in file.configurations[0].nodes] for file in files]
    fitting = []
    for file in files:
        for at, shape in enumerate(shapes):
            try:
                approx.require_fit(file, file.configurations[0], shape)
            except approx.ConfigurationError:
                continue
            fitting.append((file is files[at], at))
    assert [own for own, _ in fitting].count(True) == 9 and len(fitting) == 11
