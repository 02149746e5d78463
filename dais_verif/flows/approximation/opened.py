"""Read a file of configurations for a request, and describe its content for the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.approx import KNOBS, Configuration, ConfigurationFile, Knob, Node, pareto, read, read_knobs
from dais_verif.counts import counted
from dais_verif.flows.progress import Progress
from dais_verif.record.configurations import ConfigurationInfo, NodeInfo, OpInfo

__all__ = ["count_of", "describe", "open_configurations", "words_of_knobs"]


def open_configurations(
    path: Path, strict: bool, knobs: Path | None, progress: Progress
) -> tuple[ConfigurationFile, list[str]]:
    """Return the file and the warnings of reading it, which are also sent to ``progress``.

    The same notice for many lines is one warning. Raises ``ConfigurationError`` if the file cannot be read.
    """
    file = read(path, strict, knobs=KNOBS if knobs is None else read_knobs(knobs))
    lines: dict[str, list[int]] = {}
    for notice in file.notices:
        lines.setdefault(notice.text, []).append(notice.line)
    warnings = [f"line {found[0]}{_more(len(found) - 1)}: {text}" for text, found in lines.items()]
    warnings += _shape_warnings(file)
    for warning in warnings:
        progress.warning(warning)
    return file, warnings


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _shape_warnings(file: ConfigurationFile) -> list[str]:
    """Return the reasons why the file cannot be applied to any network."""
    first = file.configurations[0]
    other = next((one for one in file.configurations if _shape(one) != _shape(first)), None)
    if other is not None:
        return [
            f"line {other.line}: {other.name!r} is not for the same network as {first.name!r}: its nodes or ops differ"
        ]
    ids = [node.id for node in first.nodes]
    if ids != list(range(1, len(ids) + 1)):
        return [f"line {first.nodes[0].line}: nodes are numbered {ids[0]}, ... and not 1, 2, 3, ..., as in any network"]
    return []


def _shape(one: Configuration) -> list[tuple[int, tuple[str, ...]]]:
    return [(node.id, tuple(op.op for op in node.ops)) for node in one.nodes]


def describe(file: ConfigurationFile) -> tuple[list[ConfigurationInfo], list[str]]:
    """Return the record entry of every configuration, and the names of the configurations on the curve."""
    curve = pareto(file)
    kept = frozenset(curve)
    return [_info(one, one.name in kept, file.knobs) for one in file.configurations], curve


def _info(one: Configuration, on_curve: bool, knobs: Mapping[int, Knob]) -> ConfigurationInfo:
    return ConfigurationInfo(
        name=one.name,
        line=one.line or 0,
        speedup=float(one.speedup),
        energy=float(one.energy),
        accuracy=float(one.accuracy),
        loss=float(one.loss),
        extra=list(map(float, one.extra)),
        on_curve=on_curve,
        nodes=[_node(node, knobs) for node in one.nodes],
    )


def _node(node: Node, knobs: Mapping[int, Knob]) -> NodeInfo:
    ops = []
    for op in node.ops:
        knob = op.meant(knobs)
        ops.append(OpInfo(op=op.op, approximation=op.approximation, knob=op.knob, half=knob.half, skips=knob.axis))
    return NodeInfo(id=node.id, device=node.device, ops=ops)


def count_of(configurations: Sequence[object]) -> str:
    """Return the number of ``configurations``, in words."""
    return counted(len(configurations), "configuration")


def words_of_knobs(file: ConfigurationFile, shown: list[ConfigurationInfo]) -> dict[int, str]:
    """Return the meaning of the knobs in ``shown`` that skip computation, by number."""
    numbers = sorted({op.knob for one in shown for _, op in one.skipping})
    return {number: file.knobs[number].words for number in numbers}
