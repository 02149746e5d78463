"""From a design to a simulation that can be run: out of the cache, or by a simulator's compiler."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from dais_verif.sim import cache, icarus, verilator
from dais_verif.sim.simulation import Simulation
from dais_verif.sim.sources import digests, read_others
from dais_verif.stopwatch import Stopwatch
from dais_verif.version import VERSION

__all__ = ["SIMULATORS", "Design", "build"]

_MODULES: dict[str, ModuleType] = {"icarus": icarus, "verilator": verilator}

SIMULATORS = tuple(_MODULES)

_LOG = "build.log"


@dataclass(frozen=True)
class Design:
    """The RTL under test."""

    sources: tuple[Path, ...]
    top: str


def build(
    simulator: str,
    design: Design,
    folder: Path,
    *,
    signals: bool = False,
    waves: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
) -> Simulation:
    """A simulation of ``design`` in ``folder``, with the log of its build; raises ``ToolError``.

    ``signals``: the bench can read every signal and not the ports alone. ``waves``: a run can record them. The
    cache is asked first, unless the sources read other files, of which only the simulator knows.
    """
    module = _MODULES[simulator]
    watch = watch or Stopwatch()
    options = {"signals": signals, "waves": waves}
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)

    def compiled() -> Simulation:
        built: Simulation = module.build(design.sources, design.top, folder, **options, timeout=timeout, watch=watch)
        return built

    if cache.limit() == 0 or read_others(design.sources):
        return compiled()
    before = digests(design.sources)
    key = cache.key_of([VERSION, simulator, design.top, *module.identity(**options), *before])
    files = (module.OUTPUT, _LOG)
    # What an earlier run left here under the same name would be linked over, or read by a person as of this one.
    shutil.rmtree(folder / "design", ignore_errors=True)
    with cache.turn(key, timeout):
        if cache.fetch(key, files, folder):
            found: Simulation = module.simulation(design.top, folder, waves=waves)
            return replace(found, cached=True)
        simulation = compiled()
        if digests(design.sources) == before:  # else nobody knows which text was built
            cache.put(key, files, folder, {"simulator": simulator, "top": design.top, "version": simulation.version})
    return simulation
