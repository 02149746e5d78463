"""Read the line of a node: its ops, with or without the names of approximations, and their knobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dais_verif.approx.knobs import APPROXIMATIONS, CONV_ONLY, SUPPORTED, Knob, numbers_of
from dais_verif.approx.lines import Line
from dais_verif.approx.model import Node, Op
from dais_verif.approx.places import Place
from dais_verif.approx.problems import quoted

__all__ = ["DEVICES", "OPS", "read_node"]

#: Operations of HPVM's runtime.
OPS: Final = (
    *("add", "batchnorm", "conv", "group_conv", "mul", "relu", "clipped_relu", "tanh"),
    *("pool_max", "pool_mean", "pool_min", "softmax"),
)
#: Devices, and the approximations that each supports.
DEVICES: Final[dict[str, tuple[str, ...]]] = {"gpu": (*SUPPORTED, "red_samp"), "cpu": ("fp32", "perf", "samp")}

_REDUCTIONS = ("pool_max", "pool_mean", "pool_min")
_WHOLE = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)
#: Marks a knob that the tuner did not set; in the table of knobs this number belongs to another knob.
_UNSET = 1
#: The numbers of the approximations that HPVM identifies by name.
_BY_NAME = {"fp32": 11, "fp16": 12}


def read_node(line: Line, knobs: Mapping[int, Knob], place: Place) -> Node:
    """Return the node on ``line``. Raises ``ConfigurationError`` if it is not valid."""
    number, tokens = line
    if not _WHOLE.fullmatch(tokens[0]):
        problem = "expected the number of a node, or '-----'"
        raise place.error(number, tokens[0], problem)
    if len(tokens) == 1:
        raise place.error(number, tokens[0], "a node has a device (gpu or cpu) and operations; this one has neither")
    device = tokens[1]
    if device not in DEVICES:
        raise place.error(number, device, "the device must be gpu or cpu")
    if len(tokens) == 2:
        raise place.error(number, device, f"node {tokens[0]} has no operation")
    ops, at = [], 2
    while at < len(tokens):
        op, at = _read_op(line, at, device, knobs, place)
        ops.append(op)
    return Node(int(tokens[0]), device, tuple(ops), number)


def _read_op(line: Line, at: int, device: str, knobs: Mapping[int, Knob], place: Place) -> tuple[Op, int]:
    """Return the op that begins with token ``at``, and the position of the next one."""
    number, tokens = line
    op = tokens[at]
    if op not in OPS:
        raise place.error(number, op, _not_an_op(op, first=at == 2))
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is None or following in OPS:
        problem = f"op {op!r} has no approximation"
        raise place.error(number, op, problem if following is None else f"{problem} before {following!r}")
    if _WHOLE.fullmatch(following):
        knob = _bare_knob(following, number, knobs, place)
        name, named, at = knob.approximation, False, at + 2
    else:
        name, named, at = following, True, at + 3
        if name not in APPROXIMATIONS:
            known = ", ".join(DEVICES[device])
            raise place.error(number, name, f"unknown approximation; {device} has {known}")
    if name not in DEVICES[device]:
        problem = f"device {device} has {', '.join(DEVICES[device])} only, not {name}"
        raise place.error(number, following, problem)
    if not named:
        written = following
    elif at <= len(tokens):
        written = tokens[at - 1]
    else:
        raise place.error(number, None, f"approximation {name!r} of op {op!r} has no knob number")
    _check_knob(op, name, written, number, knobs, place)
    return Op(op, name, int(written), named), at


def _not_an_op(token: str, first: bool) -> str:
    if not first and (token in APPROXIMATIONS or _WHOLE.fullmatch(token)):
        return "expected an operation: each has one approximation and one knob"
    return f"unknown operation; known are {', '.join(OPS)}"


def _bare_knob(token: str, line: int, knobs: Mapping[int, Knob], place: Place) -> Knob:
    if int(token) == _UNSET:
        raise place.error(
            line, token, "knob 1 needs fp32 or fp16 before it: fp32 1 and fp16 1 mean that no knob is set"
        )
    knob = knobs.get(int(token))
    if knob is None:
        raise place.error(line, token, "no such knob")
    return knob


def _check_knob(op: str, name: str, token: str, line: int, knobs: Mapping[int, Knob], place: Place) -> None:
    """Raise ``ConfigurationError`` unless ``op`` can have knob ``token``, named ``name``; add notices of oddities."""
    if not _WHOLE.fullmatch(token):
        raise place.error(line, token, f"expected the number of a knob after {name!r}")
    number = int(token)
    if name in CONV_ONLY and op != "conv":
        what = APPROXIMATIONS[name].partition(" ")[0]
        raise place.error(line, token, f"{what} is for conv only, not for {op}")
    if name in _BY_NAME and number in (_UNSET, *_BY_NAME.values()):
        _note_odd_precision(op, name, token, line, place)
        return
    knob = knobs.get(number)
    if knob is None:
        known = numbers_of(name, knobs)
        raise place.error(line, token, f"no such knob; {name} has {known}" if known else "no such knob")
    if knob.approximation != name:
        problem = f"knob {number} is {knob.approximation} ({APPROXIMATIONS[knob.approximation]}), not {name}"
        raise place.error(line, token, problem)
    if name == "red_samp":
        if op not in _REDUCTIONS:
            raise place.error(line, token, f"sampling of reductions is for {', '.join(_REDUCTIONS)}, not for {op}")
        place.notice(line, token, "sampling of a reduction can be read, but not applied")


def _note_odd_precision(op: str, name: str, token: str, line: int, place: Place) -> None:
    number = int(token)
    if number == _UNSET:
        if op == "conv" and name == "fp32":
            place.notice(line, token, "a conv whose knob is not set is computed in fp32")
    elif number != _BY_NAME[name]:
        other = next(each for each, its in _BY_NAME.items() if its == number)
        place.notice(line, token, f"{name} with the number of {other}: HPVM's runtime uses the name, {quoted(name)}")
