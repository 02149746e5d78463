"""What the user brings as a design, recognised by its content: RTL, a netlist, a bitstream, or a wrapped core.

``rtl``, ``netlist``, ``bitstream`` and ``wrapped`` accept the same paths.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from dais_verif.base.errors import Argument, InputError, RequestError
from dais_verif.base.files import read_plain
from dais_verif.hardware.bitstream.recognition import is_bitstream
from dais_verif.hardware.synthesis.bitstream import BITSTREAM, PINS, PLACED
from dais_verif.hardware.synthesis.netlist import RECORD, find_netlist
from dais_verif.hardware.synthesis.yosys import NETLIST
from dais_verif.record.build import BUILD_RECORD
from dais_verif.subject.design_folders import design_mark
from dais_verif.verbs.design_options import SORTS, DesignOptions, Sort
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.options import options
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.read_back.bitstreams import BitstreamFile, link_of
from dais_verif.verbs.wrapper import FACTS, find_wrapper

__all__ = ["design_option", "design_request", "recognised", "rtl_option"]


#: The files by which folders of ``synth``, ``build`` and ``emit --wrap`` are known.
_MARKS = {RECORD: Sort.NETLIST, BUILD_RECORD: Sort.BITSTREAM, FACTS: Sort.WRAPPED}


def design_request(options: DesignOptions, takes: Collection[Sort] = SORTS) -> DesignRequest:
    """Return the request for the design that ``options`` name. Raises the errors of ``recognised``."""
    # Emit all pins, so that all of their functions are exercised.
    asked = {"reset": True, "enable": True, "valid": True} if options.stages or options.max_depth is not None else {}
    emitted = PipelineRequest(
        stages=options.stages, max_depth=options.max_depth, delay_model=options.delay_model, **asked
    )
    design = DesignRequest(
        rtl=options.rtl,
        data=options.data,
        top=options.top,
        ports=options.ports,
        pins=Pins(options.clock, options.latency, options.reset, options.enable, options.valid_in, options.valid_out),
        pipeline=emitted.options(),
        parameters=options.parameters,
    )
    return recognised(design, options, takes)


#: Options that make no sense for RTL from files.
_NOT_OF_RTL = (
    *("stages", "max_depth", "delay_model", "target", "pins", "device", "hints"),
    *("netlist", "bitstream", "wrapped"),
)


def design_option(*takes: Sort, without: Collection[str] = ()) -> Any:
    """Declare the design of a request: RTL, what the verb ``takes`` besides, or emitted RTL."""
    left_out = (*without, *(() if Sort.WRAPPED in takes else ("wrapped",)))
    return options(DesignOptions, lambda given: design_request(given, takes), empty=DesignRequest, without=left_out)


def rtl_option(*takes: Sort, without: Collection[str] = ()) -> Any:
    """Declare the design of a request that the user must bring, or that others describe."""
    return design_option(*takes, without=(*_NOT_OF_RTL, *without))


def recognised(asked: DesignRequest, brought: DesignOptions, takes: Collection[Sort] = SORTS) -> DesignRequest:
    """Return ``asked`` with the netlist, bitstream or wrapped core that is among its RTL or ``brought``.

    Raises ``RequestError`` if that is ambiguous, is none that the caller ``takes``, or has options of another sort.
    """
    given = [("rtl", path, _sort_of(path, None)) for path in asked.rtl]
    given += [(name, path, _sort_of(path, said) or said) for name, (path, said) in _paths(brought).items() if path]
    sort = next((one for _, _, one in given if one is not None), None) or _sort_by_options(brought, given)
    _require_own_options(sort, brought)
    if sort is None:
        _require_no_synthesized(asked.rtl)
        return asked
    name, path, _ = next(((*one,) for one in given if one[2] is not None), given[0])
    if len(given) > 1:
        raise RequestError.of(
            "{name} {path!r} is {sort}, which is the whole design: give no other design with it.",
            name=Argument(name),
            path=str(path),
            sort=sort.value,
        )
    if sort not in takes:
        raise RequestError.of(
            "{name} {path!r} is {sort}, which is not taken here: name the files of RTL.",
            name=Argument(name),
            path=str(path),
            sort=sort.value,
        )
    alone = replace(asked, rtl=())
    if sort is Sort.NETLIST:
        if asked.pipeline is not None:
            raise RequestError.of(
                "{stages} and {max_depth} are for RTL that dais-verif emits; for a netlist of a pipeline give {clock}."
            )
        return replace(alone, netlist=find_netlist(path, brought.target))
    if sort is Sort.BITSTREAM:
        return _of_bitstream(alone, path, brought)
    if asked.pipeline or asked.pins.given or asked.ports:
        raise RequestError.of("a wrapped core is the whole design: give no {ports}, {clock} or {stages} with it.")
    return replace(alone, wrapped=find_wrapper(path))


def _paths(brought: DesignOptions) -> dict[str, tuple[Path | None, Sort]]:
    """Return the paths besides RTL, by the names of their arguments, which say what they should be."""
    return {
        "netlist": (brought.netlist, Sort.NETLIST),
        "bitstream": (brought.bitstream, Sort.BITSTREAM),
        "wrapped": (brought.wrapped, Sort.WRAPPED),
    }


def _sort_of(path: Path, said: Sort | None) -> Sort | None:
    """Return what ``path`` is by its content; None if that does not show, or it is RTL. ``said``: what it should be."""
    if not path.is_dir():
        return Sort.BITSTREAM if is_bitstream(path) else None
    found = [sort for name, sort in _MARKS.items() if (path / name).exists()]
    if said in found:
        return said
    project = design_mark(path)
    if found and len(found) + (project is not None) > 1:
        what = [sort.value for sort in found] + ["a project with RTL"] * (project is not None)
        raise RequestError(
            f"{str(path)!r} holds {' and '.join(what)}: name the file of one, or give each its own folder."
        )
    return found[0] if found else None


def _sort_by_options(brought: DesignOptions, given: list[tuple[str, Path, Sort | None]]) -> Sort | None:
    """Return what the only file given must be, since options say so; None if none does."""
    if brought.target is not None:
        sort, option = Sort.NETLIST, "target"
    elif brought.pins is not None:
        sort, option = Sort.BITSTREAM, "pins"
    else:
        return None
    if len(given) > 1 and option == "target":
        raise RequestError.of(
            "{target} says that {rtl} is a netlist, which is one file: {path!r} and {other!r} are two.",
            path=str(given[0][1]),
            other=str(given[1][1]),
        )
    return sort if len(given) == 1 and not given[0][1].is_dir() else None


def _require_own_options(sort: Sort | None, brought: DesignOptions) -> None:
    if brought.target is not None and sort is not Sort.NETLIST:
        raise RequestError.of("{target} selects the cell library of a netlist: give the netlist with {rtl}.")
    if sort is not Sort.BITSTREAM and (brought.pins or brought.device or brought.hints):
        raise RequestError.of("{pins}, {device} and {hints} are for a bitstream; name it with {rtl}.")


def _of_bitstream(asked: DesignRequest, path: Path, brought: DesignOptions) -> DesignRequest:
    device, hints, pins = brought.device, brought.hints, brought.pins
    if path.is_dir():
        folder, path = path, path / BITSTREAM
        pins = pins or folder / PINS
        device = device or _device_in(folder)
        hints = hints or next((file for file in [folder / PLACED] if file.is_file()), None)
    if pins is None:
        raise RequestError.of(
            "a bitstream has no port names: give {pins} FILE.pcf, which assigns ports to pins, or the folder of build."
        )
    found = BitstreamFile(path, pins, device, hints)
    if asked.pipeline and link_of(found) is None:
        raise RequestError.of("a bitstream is the whole design: give no {stages} or {max_depth} with it.")
    return replace(asked, bitstream=found)


def _device_in(folder: Path) -> str:
    try:
        return str(json.loads(read_plain(folder / BUILD_RECORD, 1 << 28))["device"])
    except (InputError, ValueError, KeyError, TypeError):
        raise RequestError(f"{str(folder / BUILD_RECORD)!r} names no device; build the folder again.") from None


def _require_no_synthesized(rtl: tuple[Path, ...]) -> None:
    """Raise ``RequestError`` if RTL is the netlist in a folder of ``synth``, which says what its cells are."""
    for path in rtl if len(rtl) == 1 else ():  # with other files, which may have models of the cells, it is RTL
        if path.name == NETLIST and (path.parent / RECORD).is_file():
            raise RequestError.of(
                "{rtl} {path!r} is the netlist in a folder of synth: name the folder, or its cells with {target}.",
                path=str(path),
            )
