"""The table of all targets: Yosys' options, names of cells, and sources of models for each.

No other module depends on the names of targets.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

__all__ = ["KINDS", "NETLISTS", "TARGETS", "Board", "Target"]

#: Kinds of cells, in the order in which they are shown.
KINDS = ("LUT", "FF", "carry", "DSP", "BRAM", "LUTRAM", "mux", "gate", "other")

#: The first commands of the scripts for ice40, ecp5 and generic, up to the mapping of sums.
_PREPARE = (
    "proc",
    "flatten",
    "opt_expr",
    "opt_clean",
    "opt -nodffe -nosdff",
    "wreduce",
    "peepopt",
    "opt_clean",
)

_XILINX = "synth_xilinx -flatten -noiopad -noclkbuf -family xc7 {flags} -top {top} -run"


class Board(NamedTuple):
    """A device and its name. ``family``: as in the name of nextpnr's executable. ``options``: those of nextpnr."""

    family: str
    options: tuple[str, ...]
    device: str


class Target(NamedTuple):
    """A target. ``title``: its name in messages.

    ``before`` and ``after``: the Yosys commands before and after the mapping of sums to adders; the last one ends with
    a mapped netlist. ``{top}`` stands for the module, ``{flags}`` for those of the flags ``no_bram`` and ``dsp`` that
    are used.
    ``kinds``: for each kind, patterns of its cell types, in the syntax of shells and of Yosys; a cell belongs to the
    first kind that matches, else to "other".
    ``models``: the files with models of the cells, below Yosys' share folder. ``defines``: the macros for reading these
    files. ``no_bram``: the flag that keeps tables out of block RAMs; ``dsp``: the flag that maps products to DSPs.
    ``own_models``: our own file with models of cells for which Yosys has none.
    ``board``: the device on which nextpnr places and routes, if nextpnr supports the target.
    """

    title: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    kinds: dict[str, tuple[str, ...]]
    models: tuple[str, ...]
    defines: tuple[str, ...] = ()
    no_bram: str = "-nobram"
    dsp: str = ""
    own_models: str | None = None
    board: Board | None = None

    def kind_of(self, cell: str) -> str:
        """Return the kind of the cell type ``cell``."""
        matching = (kind for kind, types in self.kinds.items() if any(fnmatchcase(cell, type_) for type_ in types))
        return next(matching, "other")

    @property
    def clocked(self) -> tuple[str, ...]:
        """The cell types at which paths end, as patterns."""
        return self.kinds["FF"] + self.kinds.get("BRAM", ())


TARGETS = {
    "ice40": Target(
        "Lattice iCE40 (synth_ice40)",
        before=_PREPARE,
        # The script runs up to check, because autoname, which follows, takes very long for thousands of ops.
        after=("synth_ice40 {flags} -top {top} -run begin:check",),
        kinds={
            "LUT": ("SB_LUT4",),
            "FF": ("SB_DFF*",),
            "carry": ("SB_CARRY",),
            "DSP": ("SB_MAC16",),
            "BRAM": ("SB_RAM40*", "SB_SPRAM*"),
        },
        models=("ice40/cells_sim.v",),
        # Without this macro, inputs have default values, a syntax that Icarus does not support.
        defines=("NO_ICE40_DEFAULT_ASSIGNMENTS",),
        dsp="-dsp",
        board=Board("ice40", ("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"), "iCE40HX8K-CT256"),
    ),
    "ecp5": Target(
        "Lattice ECP5 (synth_ecp5)",
        before=_PREPARE,
        after=("synth_ecp5 {flags} -top {top} -run begin:check",),
        kinds={
            "LUT": ("LUT4",),
            "FF": ("TRELLIS_FF",),
            "carry": ("CCU2C",),
            "DSP": ("MULT*", "ALU54B"),
            "BRAM": ("DP16KD", "PDPW16KD"),
            "LUTRAM": ("TRELLIS_DPR16X4", "DPR16X4C"),
            "mux": ("PFUMX", "L6MUX21"),
        },
        models=("ecp5/cells_sim.v",),
        own_models="ecp5_multiplier.v",
        board=Board("ecp5", ("--85k", "--package", "CABGA756", "--lpf-allow-unconstrained"), "LFE5U-85F-CABGA756"),
    ),
    "xilinx": Target(
        "AMD Xilinx 7 series (synth_xilinx -family xc7)",
        # DSPs take the sums next to their products before the other sums are mapped.
        before=(f"{_XILINX} begin:coarse",),
        after=(f"{_XILINX} coarse:check",),
        kinds={
            "LUT": ("LUT[1-6]", "INV"),
            "FF": ("FD[CPRS]E", "FD[CPRS]E_1"),
            "carry": ("CARRY4",),
            "DSP": ("DSP48E1",),
            "BRAM": ("RAMB18E1", "RAMB36E1"),
            "LUTRAM": ("RAM[0-9]*", "SRL*"),
            "mux": ("MUXF[789]",),
        },
        models=("xilinx/cells_sim.v",),
    ),
    "generic": Target(
        "gates and flip-flops of no technology (synth)",
        before=_PREPARE,
        after=("synth -top {top} -run begin:check",),
        kinds={"FF": ("$_DFF*", "$_SDFF*", "$_ALDFF*", "$_FF_", "$_DLATCH*", "$_SR_*"), "gate": ("$_*",)},
        models=("simcells.v",),
        no_bram="",
    ),
}

#: The targets of all netlists that can be read, including netlists of tools that are not run here.
NETLISTS = TARGETS | {
    "quartus": Target(
        "Intel: what Quartus writes for Cyclone III to V, MAX 10 and Arria V",
        before=(),
        after=(),
        kinds={"LUT": ("*_lcell_comb",), "FF": ("dffeas",)},
        models=(),
        own_models="quartus.v",
    ),
}
