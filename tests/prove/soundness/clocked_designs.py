"""Generate random clocked designs: small programs as pipelines, with registers in many styles, right or wrong.

A design is a task in steps, divided into stages by registers. Registers are written in one of many styles
(``register_styles``); a path may also depend on start-up, stalls, bubbles or counters (``decorations``). About half
of the designs get a mistake. Whether a design is right after all is decided by simulators, not here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from prove.soundness.decorations import DECORATIONS
from prove.soundness.register_styles import Control, Register, Styles
from prove.soundness.tasks import TASKS, Step, Task
from prove.soundness.valid_lines import write_valid_line

from dais_verif.hardware.ports.interface import Clocking

__all__ = ["MISTAKES", "ClockedDesign", "random_clocked_design"]


@dataclass(frozen=True)
class ClockedDesign:
    """A clocked design.

    ``files``: its texts; the names of all modules begin with ``name``. ``task``: the name of the program that it
    computes. ``clocking``: its pins and its intended latency. ``told``: whether the prover is given the pins.
    ``features``: the parts that it is made of. ``mistake``: the change that may make it wrong; "" if there is none.
    """

    name: str
    files: Mapping[str, str]
    task: str
    clocking: Clocking
    told: bool
    features: tuple[str, ...]
    mistake: str


@dataclass
class Plan:
    """A design that is being built.

    ``base``: the age, in clock edges, at which each value is computed. ``instead``: the signals that replace values,
    by name and age.
    """

    rng: random.Random
    name: str
    task: Task
    latency: int
    clocking: Clocking
    reset_kind: str
    base: dict[str, int] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    registers: dict[tuple[str, int], Register] = field(default_factory=dict)
    controls: dict[tuple[str, int], Control] = field(default_factory=dict)
    instead: dict[tuple[str, int], str] = field(default_factory=dict)
    #: By value and reader: the age that the reader takes instead of the right one.
    skewed: dict[tuple[str, str], int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    ports: list[str] = field(default_factory=list)
    out_valid: str = ""

    @property
    def reset(self) -> str:
        """Return the condition under which the reset is active."""
        pins = self.clocking
        return "1'b0" if not pins.reset else f"!{pins.reset}" if pins.reset_low else pins.reset

    def at(self, name: str, age: int, reader: str = "") -> str:
        """Return the signal of a value that is ``age`` edges old, as ``reader`` reads it."""
        age = self.skewed.get((name, reader), age)
        return self.instead.get((name, age), f"{name}_{age}")

    def width(self, name: str) -> int:
        """Return the width of a value; valid bits have one bit."""
        return self.steps[name].width if name in self.steps else 1


def random_clocked_design(seed: int) -> ClockedDesign:
    """Return the design of ``seed``, which is always the same."""
    rng = random.Random(seed)
    title = rng.choice([*TASKS])
    reset_kind = rng.choice(("none", "sync", "sync", "async"))
    valid = rng.random() < 0.45
    clocking = Clocking(
        "clk",
        rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4)),
        None if reset_kind == "none" else "rst",
        reset_kind != "none" and rng.random() < 0.35,
        "en" if rng.random() < 0.45 else None,
        "in_valid" if valid else None,
        "out_valid" if valid else None,
    )
    assert clocking.latency is not None
    plan = Plan(rng, f"d{seed}", TASKS[title], clocking.latency, clocking, reset_kind)
    mistake = ""
    _choose_ages(plan)
    if rng.random() < 0.45:
        kinds = [kind for kind, (fits, _) in MISTAKES.items() if fits(plan)]
        mistake = rng.choice(kinds)
    if mistake in _BEFORE:
        MISTAKES[mistake][1](plan)
    _choose_registers(plan)
    _choose_controls(plan)
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2)) if mistake != "state" else 1):
        name = rng.choice([n for n, (fits, _) in DECORATIONS.items() if fits(plan)])
        DECORATIONS[name][1](plan)
        plan.features.add(name)
    if mistake and mistake not in _BEFORE:
        MISTAKES[mistake][1](plan)
    told = rng.random() < 0.8
    if mistake == "told of the other level":
        told, clocking = True, replace(clocking, reset_low=not clocking.reset_low)
    files = {f"{plan.name}.sv": _text(plan)}
    return ClockedDesign(plan.name, files, title, clocking, told, tuple(sorted(plan.features)), mistake)


def _choose_ages(plan: Plan) -> None:
    plan.steps = {step.name: step for step in (*plan.task.inputs, *plan.task.steps)}
    plan.base = {step.name: 0 for step in plan.task.inputs}
    for step in plan.task.steps:
        first = max(plan.base[name] for name in step.reads)
        plan.base[step.name] = plan.rng.randint(first, plan.latency)


def _choose_registers(plan: Plan) -> None:
    """Plan one register for each edge that a value must wait."""
    last = dict.fromkeys(plan.task.outputs, plan.latency)
    for step in reversed(plan.task.steps):
        for name in step.reads:
            last[name] = max(last.get(name, 0), plan.base[step.name])
    for name, step in plan.steps.items():
        for age in range(plan.base[name] + 1, max(last.get(name, 0), plan.base[name]) + 1):
            plan.registers[name, age] = Register(
                f"{name}_{age}", step.width, step.signed, age, plan.rng.choice((0, 0, 0, 1)), _initial(plan)
            )
    if plan.clocking.valid_in:
        for age in range(1, plan.latency + 1):
            plan.registers["valid", age] = Register(f"valid_{age}", 1, False, age, 0, _initial(plan))
        plan.base["valid"] = 0
        plan.instead["valid", 0] = "in_valid"
        plan.out_valid = plan.at("valid", plan.latency)
        if plan.latency and plan.rng.random() < 0.25:
            write_valid_line(plan)


def _initial(plan: Plan) -> bool:
    return plan.rng.random() < 0.1


def _choose_controls(plan: Plan) -> None:
    rng = plan.rng
    data_reset = rng.choice((0.0, 1.0, 0.5)) if plan.clocking.reset else 0.0
    gated = plan.clocking.valid_in is not None and rng.random() < 0.25
    for name, age in plan.registers:
        reset = plan.clocking.reset is not None and (name == "valid" or rng.random() < data_reset)
        gate = plan.at("valid", age - 1) if gated and name != "valid" and rng.random() < 0.7 else ""
        kind = plan.reset_kind if reset else "none"
        plan.controls[name, age] = Control(kind, "en" if plan.clocking.enable else "", gate)
        if gate:
            plan.features.add("gated by a valid bit")


def _text(plan: Plan) -> str:
    task = plan.task
    pins = [pin for pin in (*plan.clocking.driven,) if pin]
    out_bits = sum(plan.steps[name].width for name in task.outputs)
    in_bits = sum(step.width for step in task.inputs)
    ports = [f"input {pin}" for pin in pins] + ["output out_valid"] * bool(plan.clocking.valid_out)
    ports += [*plan.ports, f"input [{in_bits - 1}:0] model_inp", f"output [{out_bits - 1}:0] model_out"]
    body: list[str] = []
    values: list[str] = []
    for step in plan.steps.values():
        base = plan.base[step.name]
        text = step.text.format(**{name: plan.at(name, base, step.name) for name in step.reads})
        values.append(f"  wire {'signed ' * step.signed}[{step.width - 1}:0] {step.name}_{base};")
        body.append(f"  assign {step.name}_{base} = {text};")
    for (name, age), register in plan.registers.items():
        register.source = register.source or plan.at(name, age - 1, f"{name} {age}")
    styles = Styles(plan.rng, plan.name, plan.reset, plan.clocking)
    rendered = styles.render(
        [(register, plan.controls[key]) for key, register in plan.registers.items() if not register.wire]
    )
    plan.features |= styles.features
    joined = ", ".join(plan.at(name, plan.latency, "out") for name in reversed(task.outputs))
    end = [f"  assign model_out = {{{joined}}};"]
    if plan.out_valid:
        end.append(f"  assign out_valid = {plan.out_valid};")
    declared = [
        f"  {'logic' if register.wire is False else 'wire'} {'signed ' * register.signed}[{register.width - 1}:0]"
        f" {register.name}{' = 0' * (register.initial and not register.wire)};"
        for register in plan.registers.values()
        if not register.declared
    ]
    head = f"module {plan.name} ({', '.join(ports)});"
    return "\n".join([*styles.modules, head, *values, *declared, *plan.lines, *body, *rendered, *end, "endmodule", ""])


# mistakes


def _data(plan: Plan) -> list[tuple[str, int]]:
    return [key for key in plan.registers if key[0] != "valid"]


def _wrong_step(plan: Plan) -> None:
    step = plan.rng.choice(plan.task.wrong)
    plan.steps[step.name] = step


def _skew(plan: Plan) -> None:
    """Let a reader take a value of another age."""
    readers = [(name, step.name, plan.base[step.name]) for step in plan.task.steps for name in step.reads]
    readers += [(name, "out", plan.latency) for name in plan.task.outputs]
    readers += [(name, f"{name} {age}", age - 1) for name, age in _data(plan)]
    choices = [
        (name, reader, other)
        for name, reader, age in readers
        for other in (age - 1, age + 1)
        if (name, other) in plan.registers or other == plan.base[name]
        if reader != f"{name} {other}"
    ]
    if choices:
        name, reader, other = plan.rng.choice(choices)
        plan.skewed[name, reader] = other


def _control(change: Callable[[Plan, Control], Control], valid: bool) -> Callable[[Plan], None]:
    def apply(plan: Plan) -> None:
        keys = [key for key in plan.registers if (key[0] == "valid") == valid]
        if keys:
            key = plan.rng.choice(keys)
            plan.controls[key] = change(plan, plan.controls[key])

    return apply


def _other_gate(plan: Plan, control: Control) -> Control:
    age = plan.rng.randint(0, plan.latency)
    return control._replace(gate=plan.at("valid", age))


def _other_edge(plan: Plan, control: Control) -> Control:
    return control._replace(edge="negedge")


def _stale_bit(plan: Plan) -> None:
    """Let one bit of a register ignore a pin that the others obey, or obey one that they ignore."""
    key = plan.rng.choice(_data(plan) or [("", 0)])
    if key[0]:
        plan.controls[key] = plan.controls[key]._replace(stale=plan.rng.randrange(plan.registers[key].width))


def _valid_age(plan: Plan) -> None:
    ages = [age for age in (plan.latency - 1, plan.latency + 1) if age <= plan.latency]
    plan.out_valid = plan.at("valid", plan.rng.choice(ages))


def _late_valid(plan: Plan) -> None:
    plan.registers["valid", plan.latency + 1] = Register(
        f"valid_{plan.latency + 1}", 1, False, plan.latency + 1, 0, False
    )
    plan.controls["valid", plan.latency + 1] = plan.controls["valid", plan.latency]
    plan.out_valid = f"valid_{plan.latency + 1}"


def _has_valid(plan: Plan) -> bool:
    return plan.clocking.valid_in is not None


def _has_reset(plan: Plan) -> bool:
    return plan.clocking.reset is not None


def _has_enable(plan: Plan) -> bool:
    return plan.clocking.enable is not None


def _has_line(plan: Plan) -> bool:
    return plan.clocking.valid_in is not None and plan.latency > 0


def _always(plan: Plan) -> bool:
    return True


#: For each mistake: whether it is applicable, and the function that makes it. Some turn out to be harmless.
MISTAKES: dict[str, tuple[Callable[[Plan], bool], Callable[[Plan], None]]] = {
    "a wrong step": (_always, _wrong_step),
    "another age": (_always, _skew),
    "an age of another reader": (_always, _skew),
    "misses the enable": (_has_enable, _control(lambda p, c: c._replace(enable=""), False)),
    "enable inverted": (_has_enable, _control(lambda p, c: c._replace(enable="!en"), False)),
    "valid misses the enable": (
        lambda p: _has_enable(p) and _has_valid(p), _control(lambda p, c: c._replace(enable=""), True)),
    "valid misses the reset": (
        lambda p: _has_reset(p) and _has_valid(p), _control(lambda p, c: c._replace(reset="none"), True)),
    "reset inverted": (_has_reset, _control(lambda p, c: c._replace(reset="wrong"), False)),
    "the other kind of reset": (
        _has_reset, _control(lambda p, c: c._replace(reset="async" if c.reset == "sync" else "sync"), True)),
    "gated by a bit of any stage": (_has_valid, _control(_other_gate, False)),
    "the other edge": (_always, _control(_other_edge, False)),
    "a bit by itself": (_always, _stale_bit),
    "valid too early": (_has_line, _valid_age),
    "valid too late": (_has_line, _late_valid),
    "told of the other level": (_has_reset, lambda plan: None),
    "state": (_always, lambda plan: None),
}  # fmt: skip

#: Mistakes that change which registers there are.
_BEFORE = ("a wrong step",)
