"""Other chains of valid bits than one register per stage: inverted, as two chains, in an integer, in a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prove.soundness.clocked_designs import Plan

__all__ = ["FORMS", "write_valid_line"]

#: The names of the forms.
FORMS = ("inverted", "two lines", "integer", "one by one")


def write_valid_line(plan: Plan) -> None:
    """Write the valid bits of all ages in one of the forms; occasionally the reset or the enable is left out."""
    rng, depth = plan.rng, plan.latency
    form = rng.choice(FORMS)
    plan.features.add(f"valid bits: {form}")
    for age in range(1, depth + 1):
        plan.registers["valid", age].wire = True
    if form == "inverted":
        plan.lines.append(f"  reg [{depth}:1] idle;")
        later = "!in_valid" if depth == 1 else f"{{idle[{depth - 1}:1], !in_valid}}"
        _block(plan, "idle <= -1;", f"idle <= {later};")
        bit = "!idle[{}]"
    elif form == "two lines":
        plan.lines.append(f"  reg [{depth}:1] odd, even; reg turn;")
        a, b = "in_valid ^ turn", "turn"
        if depth > 1:
            a, b = f"{{odd[{depth - 1}:1], {a}}}", f"{{even[{depth - 1}:1], {b}}}"
        _block(plan, "odd <= 0; even <= 0; turn <= 0;", f"turn <= ~turn; odd <= {a}; even <= {b};")
        bit = "odd[{0}] ^ even[{0}]"
    elif form == "integer":
        plan.lines.append("  integer under_way;")
        _block(plan, "under_way <= 0;", "under_way <= (under_way << 1) | (in_valid << 1);")
        bit = "under_way[{}]"
    else:
        plan.lines.append(f"  reg [{depth}:1] there; integer place;")
        body = (
            "there[1] <= in_valid; for (place = 2; place <= DEPTH; place = place + 1) there[place] <= there[place - 1];"
        )
        _block(plan, "there <= 0;", body.replace("DEPTH", str(depth)))
        bit = "there[{}]"
    plan.lines += [f"  assign valid_{age} = {bit.format(age)};" for age in range(1, depth + 1)]


def _block(plan: Plan, resets: str, body: str) -> None:
    rng, pins = plan.rng, plan.clocking
    edges = "posedge clk"
    if pins.enable and rng.random() < 0.93:
        body = f"if (en) begin {body} end"
    if pins.reset and rng.random() < 0.93:
        if plan.reset_kind == "async":
            edges += f" or {'negedge' if pins.reset_low else 'posedge'} {pins.reset}"
        body = f"if ({plan.reset}) begin {resets} end else begin {body} end"
    plan.lines.append(f"  always @({edges}) begin {body} end")
