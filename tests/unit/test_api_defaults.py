"""Every default of the functions of ``dais_verif`` is that of the request which they make."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import pytest

from dais_verif import api
from dais_verif.flows.check import CheckRequest
from dais_verif.flows.cover import CoverageRequest
from dais_verif.flows.covering import Covering
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.diff import DiffRequest
from dais_verif.flows.pins import Pins
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.rank_sensitivity import SensitivityRequest
from dais_verif.flows.run_on_board import BoardRequest
from dais_verif.flows.simulation_request import SimulationRequest

#: What a function makes, and what that holds of its arguments.
REQUESTS: dict[str, tuple[type[Any], ...]] = {
    "check": (CheckRequest,),
    "cover": (CoverageRequest,),
    "diff": (DiffRequest,),
    "prove": (ProveRequest, DesignRequest, Pins),
    "rank_sensitivity": (SensitivityRequest,),
    "run_on_board": (BoardRequest,),
    "simulate": (SimulationRequest, DesignRequest, Pins),
}
#: Arguments that are called otherwise in a request.
OTHERWISE = {"simulators": "simulator"}
#: Arguments that no request has as they are: parts of a pipeline, the target of a netlist, what is told.
NOT_KEPT = {"stages", "max_depth", "target", "progress"}


def defaults_of(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    for field in fields(kind):
        if field.default is not MISSING:
            yield field.name, field.default
        elif field.default_factory is not MISSING:
            yield field.name, field.default_factory()


def known(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in reversed(REQUESTS[name]):
        found |= dict(defaults_of(kind))
    if name == "simulate":
        found |= {"coverage": Covering().program, "rtl_coverage": Covering().rtl}
    return found


@pytest.mark.parametrize("name", REQUESTS)
def test_defaults_are_the_same(name: str) -> None:
    expected = known(name)
    for parameter in inspect.signature(getattr(api, name)).parameters.values():
        if parameter.default is inspect.Parameter.empty or parameter.name in NOT_KEPT:
            continue
        default = None if parameter.default == () else parameter.default
        wanted = expected[OTHERWISE.get(parameter.name, parameter.name)]
        assert default == (None if wanted == () else wanted), parameter.name
