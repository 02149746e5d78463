"""Make paths of a clocked design depend on more than data: start-up, stalls, bubbles, resets, counters, history.

Each decoration changes a value of some age, mostly only at edges that a short test does not reach; some never change
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prove.soundness.clocked_designs import Plan

__all__ = ["DECORATIONS"]


def _place(plan: Plan, register: bool = False) -> tuple[str, int]:
    """Return a value that is registered at least once, or any value."""
    keys = [key for key in plan.registers if key[0] != "valid"]
    if not register:
        keys += [(name, age) for name, age in plan.base.items() if name != "valid"]
    return plan.rng.choice(keys or [(name, age) for name, age in plan.base.items() if name != "valid"])


def _dress(plan: Plan, key: tuple[str, int], text: str) -> None:
    """Make all readers of a value read ``text`` instead, in which ``{x}`` is the value."""
    name, age = key
    sign, width = "signed " * plan.steps[name].signed, plan.width(name)
    made = f"{name}_{age}_{len(plan.lines)}"
    plan.lines.append(f"  wire {sign}[{width - 1}:0] {made} = {text.format(x=plan.at(name, age), w=width)};")
    plan.instead[key] = made


def _block(plan: Plan, resets: str, body: str, *, may_reset: bool = True, enabled: bool | None = None) -> None:
    """Add a clocked block with ``body``, with or without the reset of the design and the enable."""
    rng, pins = plan.rng, plan.clocking
    enabled = rng.random() < 0.5 if enabled is None else enabled
    if pins.enable and enabled:
        body = f"if (en) begin {body} end"
    edges = "posedge clk"
    if pins.reset and may_reset and rng.random() < 0.85:
        if plan.reset_kind == "async":
            edges += f" or {'negedge' if pins.reset_low else 'posedge'} {pins.reset}"
        body = f"if ({plan.reset}) begin {resets} end else begin {body} end"
    plan.lines.append(f"  always @({edges}) begin {body} end")


def _flag(plan: Plan) -> None:
    """Change a value until a flag is 1; the reset sets the flag to 0, and the flag is 1 some edges later."""
    depth, key = plan.rng.randint(1, 3), _place(plan)
    bits = f"ok{len(plan.lines)}"
    initial = plan.rng.choice(("", "", " = 0"))
    plan.lines.append(f"  reg [{depth}:1] {bits}{initial};")
    shifted = "1'b1" if depth == 1 else f"{{{bits}[{depth - 1}:1], 1'b1}}"
    _block(plan, f"{bits} <= 0;", f"{bits} <= {shifted};")
    _dress(plan, key, f"{bits}[{depth}] ? {{x}} : {plan.rng.choice(('~{x}', '0', '1'))}")


def _passed_reset(plan: Plan) -> None:
    """Make a value 0 while a registered copy of the reset is active."""
    depth, key = plan.rng.randint(1, 3), _place(plan)
    bits = f"late{len(plan.lines)}"
    plan.lines.append(f"  reg [{depth}:1] {bits};")
    shifted = plan.reset if depth == 1 else f"{{{bits}[{depth - 1}:1], {plan.reset}}}"
    _block(plan, "", f"{bits} <= {shifted};", may_reset=False)
    _dress(plan, key, f"{bits}[{depth}] ? 0 : {{x}}")


def _saturating(plan: Plan) -> None:
    """Change a value until a saturating counter reaches its end."""
    width, key = plan.rng.choice((2, 3, 5, 8)), _place(plan)
    count = f"count{len(plan.lines)}"
    plan.lines.append(f"  reg [{width - 1}:0] {count} = 0;")
    _block(plan, f"{count} <= 0;", f"if (~&{count}) {count} <= {count} + 1'b1;")
    _dress(plan, key, plan.rng.choice((f"&{count} ? {{x}} : ~{{x}}", f"(|{count} | ~|{count}) ? {{x}} : 0")))


def _after_many(plan: Plan) -> None:
    """Change a value once in many edges, or never, if the counter does not get that far."""
    width, key = plan.rng.choice((7, 9, 11)), _place(plan)
    count = f"count{len(plan.lines)}"
    plan.lines.append(f"  reg [{width - 1}:0] {count} = 0;")
    _block(plan, f"{count} <= 0;", f"{count} <= {count} + 1'b1;")
    last = (1 << width) - plan.rng.choice((1, 3, 20, 0))
    _dress(plan, key, f"({count} == {width + 1}'d{last}) ? ~{{x}} : {{x}}")


def _stalled(plan: Plan) -> None:
    """Change a value right after one stalled edge, or only after two."""
    was, key = f"was{len(plan.lines)}", _place(plan)
    plan.lines.append(f"  reg [1:0] {was} = 3;")
    _block(plan, f"{was} <= 3;", f"{was} <= {{{was}[0], en}};", enabled=False)
    when = plan.rng.choice((f"{was} == 0", f"{was} == 1", f"!{was}[0]", f"{was} == 1 && !en"))
    _dress(plan, key, f"({when}) ? ~{{x}} : {{x}}")


def _bubble(plan: Plan) -> None:
    """Change a value while the valid bit of its own stage, or of another one, is 0."""
    key = _place(plan)
    age = plan.rng.choice((key[1], key[1], plan.rng.randint(0, plan.latency)))
    _dress(plan, key, f"{plan.at('valid', min(age, plan.latency))} ? {{x}} : {plan.rng.choice(('0', '~{x}'))}")


def _valid_history(plan: Plan) -> None:
    """Change a value where the valid bits have a certain pattern."""
    key = _place(plan)
    a, b = (plan.at("valid", plan.rng.randint(0, plan.latency)) for _ in range(2))
    when = plan.rng.choice((f"{a} && !{b}", f"!{a} && !{b}", f"{a} != {b}", f"{a} && !{a}"))
    _dress(plan, key, f"({when}) ? ~{{x}} : {{x}}")


def _scrambled(plan: Plan) -> None:
    """Invert the source of a register at every other edge, and invert its output back: the state is harmless."""
    if not plan.registers:
        return
    name, age = _place(plan, register=True)
    if (name, age) not in plan.registers or plan.registers[name, age].source:
        return
    bit = f"turn{len(plan.lines)}"
    plan.lines.append(f"  reg [1:0] {bit} = 0;")
    _block(plan, f"{bit} <= 0;", f"{bit} <= {{{bit}[0], ~{bit}[0]}};", enabled=plan.rng.random() < 0.8)
    width = plan.width(name)
    plan.registers[name, age].source = f"{plan.at(name, age - 1)} ^ {{{width}{{{bit}[0]}}}}"
    _dress(plan, (name, age), f"{{x}} ^ {{{{{width}{{{{{bit}[1]}}}}}}}}")


def _ready(plan: Plan) -> None:
    """Add an output that does not belong to the program."""
    plan.ports.append("output ready")
    count = f"busy{len(plan.lines)}"
    plan.lines.append(f"  reg [2:0] {count} = 0;")
    _block(plan, f"{count} <= 0;", f"{count} <= {count} + 3'd3;")
    plan.lines.append(f"  assign ready = ~{count}[2];")


def _constant(plan: Plan) -> None:
    """Combine a value with a register that loads a constant."""
    depth, key = plan.rng.randint(1, 2), _place(plan)
    name = f"k{len(plan.lines)}"
    plan.lines.append(f"  reg [3:0] {name}a, {name};")
    resets, loads = f"{name}a <= 0;", f"{name}a <= 5;"
    if depth == 2:
        resets, loads = f"{resets} {name} <= 0;", f"{loads} {name} <= {name}a;"
    _block(plan, resets, loads)
    if depth == 1:
        plan.lines.append(f"  always @* {name} = {name}a;")
    _dress(plan, key, f"{{x}} + {name} - 5")


def _mode(plan: Plan) -> None:
    """Make a value depend on a register that is never written, or that keeps its value."""
    name, key = f"mode{len(plan.lines)}", _place(plan)
    plan.lines.append(plan.rng.choice((f"  reg {name} = 0;", f"  reg {name}; initial {name} = 0;")))
    if plan.rng.random() < 0.6:
        _block(plan, f"{name} <= 0;", f"{name} <= {plan.rng.choice((name, '0', f'{name} & 1'))};")
    _dress(plan, key, f"{name} ? ~{{x}} : {{x}}")


def _sticky(plan: Plan) -> None:
    """Change all values after a certain value has occurred, until a reset."""
    name, key, watched = f"seen{len(plan.lines)}", _place(plan), _place(plan)
    plan.lines.append(f"  reg {name} = 0;")
    when = f"{plan.at(*watched)} == {plan.rng.randrange(1 << plan.width(watched[0]))}"
    _block(plan, f"{name} <= 0;", f"if ({when}) {name} <= 1;")
    _dress(plan, key, f"{name} ? {plan.rng.choice(('{x}', '0', '~{x}'))} : {{x}}")


def _before(plan: Plan) -> None:
    """Change a value if the previous vector has a certain value."""
    name, key = f"last{len(plan.lines)}", _place(plan)
    width = plan.width(key[0])
    plan.lines.append(f"  reg [{width - 1}:0] {name};")
    _block(plan, f"{name} <= 0;", f"{name} <= {plan.at(*key)};", enabled=True)
    when = plan.rng.choice((f"{name} == {plan.rng.randrange(1 << width)}", f"&{name} && !(&{name})"))
    _dress(plan, key, f"({when}) ? ~{{x}} : {{x}}")


def _register(plan: Plan) -> tuple[str, int] | None:
    """Return a register of data whose source is still the planned one."""
    keys = [key for key in plan.registers if key[0] != "valid" and not plan.registers[key].source]
    return plan.rng.choice(keys) if keys else None


def _if_other(plan: Plan) -> None:
    """Let a register load only values that differ from its own."""
    key = _register(plan)
    if key is not None and not plan.controls[key].gate:
        gate = f"({plan.at(key[0], key[1] - 1)} {plan.rng.choice(('!=', '!=='))} {plan.registers[key].name})"
        plan.controls[key] = plan.controls[key]._replace(gate=gate)


def _with_itself(plan: Plan) -> None:
    """Let a register load an expression of its own value that does not change the result.

    Without a reset, its first value is X in Icarus and remains X in terms that only cancel; such designs are refused.
    """
    key = _register(plan)
    if key is not None:
        own, source = plan.registers[key].name, plan.at(key[0], key[1] - 1)
        forms = (f"{own} ^ ({own} ^ {source})", f"({source} + {own}) - {own}", f"{source} | ({own} & 0)")
        form = plan.rng.choice(forms)
        begins = plan.controls[key].reset in ("sync", "async")
        plan.registers[key].source = form if begins else forms[-1]


def _other_gate(plan: Plan) -> None:
    """Let a register wait for more or less than the valid bit of its stage."""
    key = _register(plan)
    if key is not None and not plan.controls[key].gate:
        own, other = plan.at("valid", key[1] - 1), plan.at("valid", plan.rng.randint(0, plan.latency))
        forms = (f"({own} | {other})", f"({own} & {other})", f"!(!{own})", f"({own} | !{own})", f"({own} ^ {other})")
        plan.controls[key] = plan.controls[key]._replace(gate=plan.rng.choice(forms))


def _late_enable(plan: Plan) -> None:
    """Let a register wait for the enable of the previous edge."""
    key, name = _register(plan), f"en{len(plan.lines)}"
    if key is not None:
        plan.lines.append(f"  reg {name} = 1; always @(posedge clk) {name} <= en;")
        gate = plan.rng.choice((name, f"({name} | en)"))
        plan.controls[key] = plan.controls[key]._replace(enable=plan.rng.choice(("", "en")), gate=gate)


def _any(plan: Plan) -> bool:
    return True


#: For each decoration: whether it is applicable, and the function that adds it.
DECORATIONS: dict[str, tuple[Callable[[Plan], bool], Callable[[Plan], None]]] = {
    "start-up flag": (_any, _flag),
    "reset passed on": (lambda plan: plan.clocking.reset is not None, _passed_reset),
    "saturating counter": (_any, _saturating),
    "after many edges": (_any, _after_many),
    "after a stall": (lambda plan: plan.clocking.enable is not None, _stalled),
    "valid or nothing": (lambda plan: plan.clocking.valid_in is not None, _bubble),
    "pattern of bubbles": (lambda plan: plan.clocking.valid_in is not None, _valid_history),
    "inverted twice": (_any, _scrambled),
    "ready": (_any, _ready),
    "constant register": (_any, _constant),
    "mode": (_any, _mode),
    "sticky": (_any, _sticky),
    "the vector before": (_any, _before),
    "takes in what is other": (_any, _if_other),
    "made of itself": (_any, _with_itself),
    "another gate": (lambda plan: plan.clocking.valid_in is not None, _other_gate),
    "the enable of before": (lambda plan: plan.clocking.enable is not None, _late_enable),
}
