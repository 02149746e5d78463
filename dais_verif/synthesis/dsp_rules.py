"""Add rules to Yosys' model of DSP48E1: operations that the data sheet forbids then give X, or are errors."""

from __future__ import annotations

import re

from dais_verif.errors import NetlistFailure

__all__ = ["with_rules"]

#: Parameters and their legal values.
_WORDS = {
    "A_INPUT": ("DIRECT", "CASCADE"),
    "B_INPUT": ("DIRECT", "CASCADE"),
    "USE_DPORT": ("TRUE", "FALSE"),
    "USE_MULT": ("NONE", "MULTIPLY", "DYNAMIC"),
}
_STAGES = {"AREG": 2, "BREG": 2, "ACASCREG": 2, "BCASCREG": 2} | dict.fromkeys(
    ["ADREG", "ALUMODEREG", "CARRYINREG", "CARRYINSELREG", "CREG", "DREG", "INMODEREG", "MREG", "OPMODEREG", "PREG"], 1
)
#: The adder sums the multiplier's two partial products; if SIMD cuts the carries of the adder, this sum is not the
#: product.
_SUMS = 'if (USE_SIMD != "ONE48" && USE_MULT != "NONE") $fatal(1, "USE_SIMD must be ONE48 unless USE_MULT is NONE");'

_CHECKS = re.compile(r"(\binitial\s+begin\s+`ifndef\s+YOSYS\s*?\n)")
_PRODUCT = re.compile(r"(wire\s+signed\s*\[42:0\]\s*Mx\s*=\s*\()")
_HALF = re.compile(r"(if\s*\((OPMODEr\[(?:3:2|1:0)\] != 2'b01)\)\s*)\$fatal")


def with_rules(module: str) -> str:
    """Return ``module``, the text of Yosys' model, with the rules added.

    A simulation ends at illegal parameters, and a proof refuses them. A product that is switched off, or that only one
    of the multiplexers X and Y selects, is X. Raises ``ToolError`` if a place for these rules is not found: without
    them, the model would compute what the data sheet forbids.
    """
    checks = "".join(f"        {line}\n" for line in _rules())
    module, checked = _CHECKS.subn(lambda found: found[1] + checks, module)
    module, products = _PRODUCT.subn(r'\1USE_MULT == "NONE" || ', module)
    module, halves = _HALF.subn(
        lambda found: f"if ({found[2]}) {'X' if '3:2' in found[2] else 'Y'} = 48'bx; {found[0]}", module
    )
    if (checked, products, halves) != (1, 1, 2):
        raise NetlistFailure(
            "the model of DSP48E1 in this Yosys is not the known one, whose gaps are closed here: a proof with it might"
            " be wrong; use Yosys 0.23, or give the netlist and the vendor's models as RTL"
        )
    return module


def _rules() -> list[str]:
    lines = [_SUMS]
    for name, words in _WORDS.items():
        wrong = " && ".join(f'{name} != "{word}"' for word in words)
        lines.append(f'if ({wrong}) $fatal(1, "{name} must be {" or ".join(words)}");')
    for name, most in _STAGES.items():
        lines.append(f'if ({name} < 0 || {name} > {most}) $fatal(1, "{name} must be 0 to {most}");')
    return lines
