"""Random gate graphs, random terms, and the values of a literal on all inputs."""

from __future__ import annotations

import random

from dais_verif.prover import terms as T
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.patterns import columns, simulate, value_of
from dais_verif.prover.terms import Term

__all__ = ["random_graph", "random_term", "table"]


def table(graph: Aig, literal: int) -> int:
    """Return the values of a literal on all inputs, as an integer with one bit per input pattern."""
    bits = sum(low < 0 for low in graph.low) - 1
    count = 1 << bits
    return value_of(simulate(graph, columns(range(count), bits), count), literal, count)


def random_graph(rng: random.Random, inputs: int = 5, gates: int = 40) -> tuple[Aig, list[int]]:
    """Return a random graph, and the literals of its inputs and gates."""
    graph = Aig()
    literals = [graph.input() for _ in range(inputs)]
    for _ in range(gates):
        a, b, c = (rng.choice(literals) ^ rng.getrandbits(1) for _ in range(3))
        make = rng.choice([graph.both, graph.either, graph.differ, lambda x, y, c=c: graph.choice(c, x, y)])
        literals.append(make(a, b))
    return graph, literals


def random_term(rng: random.Random, width: int, depth: int) -> Term:
    """Return a random term of ``width`` bits, of any operations, nested at most ``depth`` deep."""

    def inside(of: int = width) -> Term:
        return random_term(rng, of, depth - 1)

    if depth == 0 or rng.random() < 0.1:
        return (
            T.var(width, f"x{rng.randrange(3)} {width}") if rng.random() < 0.8 else T.const(width, rng.getrandbits(8))
        )
    narrow = rng.randrange(1, width + 1)
    makers = [
        lambda: T.add(inside(), inside(), inside()),
        lambda: T.sub(inside(), inside()),
        lambda: T.neg(inside()),
        lambda: T.mul(inside(), inside()),
        lambda: T.mul(T.sext(inside(narrow), width), T.zext(inside(max(1, width // 2)), width)),
        lambda: T.ite(inside(1), inside(), inside()),
        lambda: T.sext(inside(narrow), width),
        lambda: T.extract(inside(width + 2), rng.randrange(3), width),
        lambda: T.concat(inside(narrow), inside(width)) if width < 4 else T.concat(inside(2), inside(width - 2)),
        lambda: T.zext(rng.choice((T.eq, T.ult, T.slt))(inside(4), inside(4)), width),
        lambda: T.lookup(inside(4), [rng.getrandbits(width) for _ in range(rng.randrange(1, 20))], width),
        lambda: rng.choice((T.shl, T.lshr, T.ashr))(inside(), inside(rng.randrange(1, 5))),
        lambda: rng.choice((T.udiv, T.urem))(inside(), inside()),
        lambda: rng.choice((T.band, T.bor, T.bxor))(inside(), T.bnot(inside())),
    ]
    return T.resize(rng.choice(makers)(), width, False)
