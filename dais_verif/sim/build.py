"""From a design to a simulation that can be run: out of the cache, or by a simulator's compiler."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from dais_verif.sim import cache, icarus, verilator
from dais_verif.sim.simulation import Simulation
from dais_verif.stopwatch import Stopwatch

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

    contents = [source.read_bytes() for source in design.sources]
    if cache.limit() == 0 or any(b"`include" in content for content in contents):
        return compiled()
    identity = [simulator, design.top, *module.identity(**options)]
    key = cache.key_of([*identity, *(hashlib.sha256(content).digest() for content in contents)])
    files = (module.OUTPUT, _LOG)
    # What an earlier run left here under the same name would be linked over, or read by a person as of this one.
    shutil.rmtree(folder / "design", ignore_errors=True)
    with cache.turn(key, timeout):
        if cache.fetch(key, files, folder):
            found: Simulation = module.simulation(design.top, folder, waves=waves)
            return replace(found, cached=True)
        simulation = compiled()
        cache.put(key, files, folder, {"simulator": simulator, "top": design.top, "version": simulation.version})
    return simulation
