"""Random Verilog expressions."""

from __future__ import annotations

import random

__all__ = ["INPUTS", "expression", "result"]


INPUTS = {"a": ("", 5), "b": ("signed", 7), "c": ("", 1), "d": ("signed", 4), "e": ("", 9), "f": ("signed", 12)}

DIVISORS = ("3'sd3", "4'sd4", "-4'sd5", "3'd6")


def result(rng: random.Random) -> tuple[str, int]:
    return rng.choice(("", "signed")), rng.choice((1, 3, 8, 16, 21))


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        name = rng.choice(list(INPUTS))
        width = INPUTS[name][1]
        low = rng.randrange(width)
        high = rng.randrange(low, width)
        literal = rng.choice(("3'd5", "4'sb1010", "32'd7", "6'h2a", "-32'sd3", "2'sd1", "12'shabc"))
        part = f"{name}[{high}:{low}]" if width > 1 else name
        return rng.choice((name, name, name, part, f"$signed({name})", f"$unsigned({name})", literal))
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    c = expression(rng, depth - 2) if depth > 1 else rng.choice(list(INPUTS))
    kind = rng.randrange(11)
    if kind < 4:
        return f"({a} {rng.choice(['+', '-', '*', '&', '|', '^', '~^'])} {b})"
    if kind == 4:
        return f"({a} {rng.choice(['<', '<=', '>', '>=', '==', '!=', '&&', '||'])} {b})"
    if kind == 5:
        return f"({a} {rng.choice(['<<', '>>', '<<<', '>>>'])} {rng.choice([str(rng.randrange(9)), 'c', 'a'])})"
    if kind == 6:
        return f"({c} ? {a} : {b})"
    if kind == 7:
        repeated = f"{{{rng.randint(1, 3)}{{{b}}}}}"
        return f"{{{a}, {rng.choice([b, repeated])}}}"
    if kind == 8:
        return f"({rng.choice(['-', '~', '!', '&', '|', '^', '~&', '~|', '~^', '+'])}({a}))"
    if kind == 9:
        return f"({a} {rng.choice('/%')} {rng.choice(DIVISORS)})"
    return f"({a} + {b} - {c})"
