"""Files for the machine of a stream, as TOML texts: the frame of a whole tensor, and the names of its pins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from dais_verif.kernels.forms.raster import Plane, Raster

__all__ = ["cycle_of", "frame_text", "plane_name", "stream_text", "valid_cycles"]


def plane_name(letter: str, planes: tuple[Plane, ...], number: int) -> str:
    """Return the name of a tensor's signal."""
    return f"{letter}{number}" if len(planes) > 1 else letter


def frame_text(raster: Raster) -> str:
    """Return the frame of all images of a raster without a pause: ports of the unfolded instance in its order."""
    count = raster.beats
    for images in raster.images:
        count *= images
    lines = ["# All images, a pixel a cycle, line by line; some outputs come in the next frame."]
    lines += [f"cycles = {count}"]
    for key, letter, planes in (("inputs", "x", raster.inputs), ("outputs", "y", raster.outputs)):
        lines.append(f"{key} = [")
        for number, plane in enumerate(planes):
            name = plane_name(letter, planes, number)
            for place, first, last in _stretches(raster, plane, key == "outputs"):
                until = f", to = {last}" if last > first else ""
                whole = f", first = {place}, last = {place}" if plane.count > 1 else ""
                lines.append(f'  {{ signal = "{name}", cycle = {first}{until}{whole} }},')
        lines.append("]")
    lines += ["held.valid_in = 1", "held.en = 1"]
    if raster.pointwise:
        return "\n".join(lines) + "\n"
    return "\n".join([*lines, "held.rst = 0", "stall.en = 0", "stall.rst = 0", "reset.rst = 1"]) + "\n"


def valid_cycles(raster: Raster) -> dict[int, int]:
    """Return the required values of ``valid_out`` in the cycles in which outputs of a frame may come."""
    count = raster.beats
    for images in raster.images:
        count *= images
    given = {
        cycle_of(raster, list(scanned), True)
        for plane in raster.outputs
        for scanned in product(*(range(plane.tensor.sizes[d]) for d in plane.scanned))
    }
    first = min(given)
    return {cycle: int(cycle in given) for cycle in range(first, first + count)}


def stream_text(raster: Raster) -> str:
    """Return the pins, for ``emit --wrap axis --stream``."""
    lines = ['valid_in = "valid_in"', 'valid_out = "valid_out"', 'enable = "en"']
    return "\n".join(lines if raster.pointwise else [*lines, 'reset = "rst"']) + "\n"


def _stretches(raster: Raster, plane: Plane, output: bool) -> Iterator[tuple[int, int, int]]:
    """Yield stretches that cover a tensor in NumPy's order: the place in a beat, and the first and the last cycle."""
    sizes = plane.tensor.sizes
    begun: tuple[int, int, int] | None = None
    for element in product(*map(range, reversed(sizes))):
        position = element[::-1]
        place = plane.place(position)
        assert place is not None
        cycle = cycle_of(raster, [position[d] for d in plane.scanned], output)
        if begun is not None and begun[0] == place and begun[2] + 1 == cycle:
            begun = place, begun[1], cycle
            continue
        if begun is not None:
            yield begun
        begun = place, cycle, cycle
    if begun is not None:
        yield begun


def cycle_of(raster: Raster, scanned: list[int], output: bool) -> int:
    """Return the cycle of a pixel of the input, or of the output, by its scanned coordinates, if no beat waits."""
    across = len(scanned) - len(raster.images)
    x, y = [*scanned[:across], 0, 0][:2]
    image = 0
    for count, number in reversed(list(zip(raster.images, scanned[across:], strict=True))):
        image = image * count + number
    if output:
        x, y = raster.x.stride * x + raster.x.anchor, raster.y.stride * y + raster.y.anchor
    return (image * raster.y.size + y) * raster.x.size + x + (raster.delay if output else 0)
