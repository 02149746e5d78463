"""What is told of a network that is folded into a machine: what it is made of, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.verdict import Verdict

__all__ = ["FoldedNetwork", "FoldedStage", "ProvedSetting"]


@dataclass(frozen=True)
class FoldedStage:
    """A kernel of a network. ``fused``: the number of HPVM's node; None if it has none. ``ops``: of one member.

    ``cycles``: from its start to the start of the next. ``configurations``: in which it runs, by their names.
    """

    name: str
    fused: int | None
    members: int
    ops: int
    cycles: int
    configurations: list[str]


@dataclass(frozen=True)
class FoldedNetwork:
    """A network as a machine, in a folder.

    ``configurations``: of each the cycles from that of start to that of done, in the order of input ``config``.
    ``parallel``: members of a stage side by side, at most. ``words``, ``bits``: of all memories.
    """

    form: str
    folder: str
    files: list[str]
    configurations: dict[str, int]
    parallel: int
    stages: list[FoldedStage]
    words: int
    bits: int

    @property
    def ops(self) -> int:
        """Ops of one member of each stage."""
        return sum(one.ops for one in self.stages)


@dataclass(frozen=True)
class ProvedSetting:
    """What a proof says of one configuration of a folded network, by its ``name``.

    ``frame``: of the machine against all members side by side, in every frame that begins in this configuration;
    ``network``: of all members against the network, unrolled. Each with its message; NOT_RUN where it was not reached.
    """

    name: str
    cycles: int
    frame: Verdict = Verdict.NOT_RUN
    frame_message: str = "not looked at"
    network: Verdict = Verdict.NOT_RUN
    network_message: str = "not looked at"
