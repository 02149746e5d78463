"""A request for the design to verify: user RTL with its ports and pins, a wrapped core, or emitted RTL.

A request loads nothing that reads or writes RTL: many verbs take one and need no RTL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import RequestError
from dais_verif.base.verilog_names import require_module_name
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.pins import Pins

if TYPE_CHECKING:
    from dais_verif.hardware.emitter import PipelineOptions
    from dais_verif.hardware.synthesis.netlist import SynthesizedNetlist
    from dais_verif.record.program import BitstreamFacts
    from dais_verif.verbs.read_back.bitstreams import BitstreamFile
    from dais_verif.verbs.wrapper import WrapperFolder

__all__ = ["DesignRequest"]


@dataclass(frozen=True, kw_only=True)
class DesignRequest:
    """User RTL, or emitted RTL if ``rtl`` is empty; and the pins of a clocked design, if given.

    ``data``: files that user RTL reads. ``pipeline``: the pipeline of emitted RTL; None: combinational. ``parameters``:
    names of parameters of the user's top module, and their values in Verilog. ``netlist``, ``bitstream``: files to
    verify instead of RTL; ``bitstream_facts``: facts about the bitstream that was read. ``top``: the top module; None:
    the top of the project folder if ``rtl`` is one, else ``model``.
    """

    rtl: tuple[Path, ...] = ()
    data: tuple[Path, ...] = ()
    top: str | None = None
    ports: Path | None = None
    pins: Pins = field(default_factory=Pins)
    pipeline: PipelineOptions | None = None
    wrapped: WrapperFolder | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    netlist: SynthesizedNetlist | None = None
    bitstream: BitstreamFile | None = None
    bitstream_facts: BitstreamFacts | None = None

    def __post_init__(self) -> None:
        require_module_name(self.module)
        require_types(self)
        if self.data and not self.rtl:
            raise RequestError.of("{data} is for RTL that reads files; give the RTL with {rtl}.")
        if self.parameters and not self.rtl:
            raise RequestError.of("{parameters} is for user RTL; give it with {rtl}.")

    @property
    def module(self) -> str:
        """The name of the top module."""
        return "model" if self.top is None else self.top

    @property
    def read(self) -> dict[str, object]:
        """The user's files that are read, by argument name."""
        netlist = None if self.netlist is None else self.netlist.path
        bits, pins = self.bitstream[:2] if self.bitstream else (None, None)
        return {
            "rtl": self.rtl,
            "data": self.data,
            "ports": self.ports,
            "netlist": netlist,
            "bitstream": bits,
            "pins": pins,
        }

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the files that are written into the folder of a run."""
        if self.netlist is not None:
            return self.netlist.written
        return () if self.rtl or self.wrapped or self.of_bits else (f"{self.module}.v",)

    @property
    def of_bits(self) -> bool:
        """True if the design consists of cells of a technology, whose signals are bits without names."""
        return self.netlist is not None or self.bitstream is not None

    def words(self) -> list[str]:
        """Return the command line options for this design."""
        pipeline, pins = self.pipeline, self.pins
        valued = {
            "--ports": self.ports,
            "--top": self.top,
            "--clock": pins.clock,
            "--latency": pins.latency,
            "--reset": pins.reset,
            "--enable": pins.enable,
            "--valid-in": pins.valid_in,
            "--valid-out": pins.valid_out,
            "--stages": pipeline and pipeline.stages,
            "--max-depth": pipeline and pipeline.max_depth,
            "--target": self.netlist and self.netlist.target,
            "--pins": self.bitstream and self.bitstream.pins,
            "--device": self.bitstream and self.bitstream.device,
            "--hints": self.bitstream and self.bitstream.hints,
        }
        words = [word for name, value in valued.items() if value is not None for word in (name, str(value))]
        words += [word for name, value in self.parameters for word in ("--param", f"{name}={value}")]
        words += [word for path in self.data for word in ("--data", str(path))]
        return [*words, *(word for path in self._brought for word in ("--rtl", str(path)))]

    @property
    def _brought(self) -> tuple[Path, ...]:
        """The paths of the design; for a netlist or a bitstream, ``rtl`` is derived from it."""
        if self.netlist is not None:
            return (self.netlist.path,)
        if self.bitstream is not None:
            return (self.bitstream.path,)
        return self.rtl if self.wrapped is None else (self.wrapped.folder,)
