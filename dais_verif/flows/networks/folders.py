"""Find folders with a network as hardware that are given in a request instead of a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.errors import RequestError
from dais_verif.flows.programs import AnyProgram, is_folder
from dais_verif.network_folder import holds_network

if TYPE_CHECKING:
    from dais_verif.networks.hardware.folder import NetworkFolder

__all__ = ["find_folded", "require_no_configuration"]


def find_folded(program: AnyProgram) -> NetworkFolder | None:
    """Return the hardware of a network in a folder; None if ``program`` is not such a folder.

    Raises ``InputError`` if the folder was changed since it was written.
    """
    if not is_folder(program) or not holds_network(Path(str(program))):
        return None
    from dais_verif.networks.hardware.folder import read_folder

    return read_folder(Path(str(program)))


def require_no_configuration(configuration: str | None) -> None:
    """Raise ``RequestError`` if a configuration is named for a design without configurations."""
    if configuration is not None:
        raise RequestError.of(
            "{config} {value} is for a folder with a network as a machine, which `emit --form memory` and `approx apply"
            " --form memory` write.",
            value=configuration,
        )
