"""Sign off the RTL of a program or a machine: run all that a policy requires, then certify it if nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from dais_verif.base.errors import PolicyError, RequestError
from dais_verif.base.files import make_folder
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.compile.network_folder import holds_network, verified_files
from dais_verif.record.signoff import CERTIFICATE, SIGNATURE, SignOffRecord
from dais_verif.signoff import session
from dais_verif.signoff.machines.kernel import KERNEL_FILES
from dais_verif.signoff.policy import BUILT_IN, GHDL, Given, Rtl, read_policy, with_rtl
from dais_verif.signoff.signatures import fingerprint, load_key, public_key, sign
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.subject import open_for
from dais_verif.subject.given import is_folder
from dais_verif.verbs import common_options as common
from dais_verif.verbs.design_options import SORTS
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.machines.designs import opened_design
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.recognition import rtl_option

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["BUILT_IN", "SignOffRequest", "default_folder", "sign_off", "withdraw_certificate"]


@dataclass(frozen=True, kw_only=True)
class SignOffRequest(Request):
    """A design to sign off, and the policy for it.

    ``program``: a project folder, or a file of a program or a machine; the certificate is about a file. ``design``:
    user RTL, instead of the RTL of the policy. ``passphrase``: a function that takes a prompt and returns the
    passphrase of the key.
    """

    verb: ClassVar[str] = "signoff"

    program: str | Path
    layout: str | None = common.layout()
    policy: Path | None = option(None, "TOML file with the requirements. Default: a built-in policy.", group="Sign-off")
    design: DesignRequest = rtl_option(*SORTS)
    seed: int | None = common.seed(None, "Seed of the vectors, in place of the policy's seeds.")
    key: Path | None = option(
        None,
        "Sign the certificate with this Ed25519 key, as ssh-keygen writes it.",
        group="Sign-off",
        name="sign",
        keyword="key",
    )
    passphrase: Callable[[str], str] | None = None
    paranoid: bool = common.paranoid()
    jobs: int | None = common.jobs()
    output: Path | None = common.output("Folder for certificate, record and evidence. Default: signoff-PROGRAM.")

    def __post_init__(self) -> None:
        if not isinstance(self.program, str | Path):
            raise RequestError("a sign-off certifies a file: give the path of the program.")
        super().__post_init__()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
        design = self.design
        if not design.rtl and not is_folder(self.program) and (design.ports or design.pins.given):
            raise RequestError.of("{ports} and {clock} are for RTL from files; give the files with {rtl}.")
        if design.parameters:
            raise RequestError.of("{parameters} is not for a sign-off: give the values in a module around the RTL.")
        if design.pipeline or design.wrapped or design.of_bits:
            raise RequestError(
                "a sign-off takes pipelines, wrappers, netlists and bitstreams from the policy, not as a design."
            )

    @property
    def folder(self) -> Path:
        """The folder that receives the certificate, the record and the evidence."""
        return self.output or default_folder(Path(self.program))


def default_folder(program: Path) -> Path:
    """Return the folder of a sign-off of the file ``program``."""
    return Path(f"signoff-{program.name.partition('.')[0] or 'program'}")


def withdraw_certificate(folder: Path) -> None:
    """Remove an earlier certificate from ``folder``, since a new sign-off replaces it.

    Raises ``InputError`` if another sign-off works there.
    """
    if (folder / CERTIFICATE).exists() or (folder / SIGNATURE).exists():
        with _locked(folder):
            session.withdraw(folder)


def sign_off(request: SignOffRequest, *, progress: Progress = SILENT) -> SignOffRecord:
    """Run everything that the policy requires, each verb in a separate process; certify the RTL if nothing is missing.

    Verdicts: PASS, or NOT_SIGNED_OFF with the reason. Every sign-off also seeds faults in the RTL and in the golden
    model, which must be found. In both cases the folder holds the findings of all stages. Raises ``InputError`` for
    unusable arguments.
    """
    folder = request.folder
    withdraw_certificate(folder)
    subject = open_for("signoff", request.program, request.layout)
    kernel, machine = subject.kernel or subject.hardware, subject.machine
    warnings: list[str] = []
    if machine is not None:
        path = Path(machine.origin.path or str(request.program))
        if kernel is None:
            asked, project = opened_design(request.program, request.design)
        else:
            asked, project = opened_design(b"", request.design)
        given, signer = _policy(request, asked), _signer(request)
        if kernel is not None and not given.policy.rtl.files:
            given = with_rtl(given, msgspec.structs.replace(given.policy.rtl, files=(str(kernel.rtl),)), None)
        design: Program | Machine = machine
    else:
        opened = open_projects(request.program, request.design)
        project = opened.project
        given, signer = _policy(request, opened.design), _signer(request)
        path = Path(str(opened.program))
        design, warnings = read_program(path, request.layout, progress)
        opened.require_dialect(design)
    with _locked(folder), progress.working("signing off"):
        return session.sign_off(
            design,
            path,
            request.layout,
            given,
            folder,
            reproduce=request.reproduce(),
            warnings=warnings,
            jobs=request.jobs,
            paranoid=request.paranoid,
            signer=signer,
            listener=progress,
            project=project,
            kernel=_verified(kernel.path) if kernel is not None else [],
        )


def _verified(folder: Path) -> list[Path]:
    """Return the files of a folder that specify what its machine must compute."""
    return verified_files(folder) if holds_network(folder) else [folder / name for name in KERNEL_FILES]


def _policy(request: SignOffRequest, design: DesignRequest) -> Given:
    """Return the policy for the RTL of the request. The built-in policy selects simulators by the RTL's language."""
    given = read_policy(request.policy)
    if design.rtl:
        pins = design.pins
        rtl = Rtl(
            files=tuple(map(str, design.rtl)),
            top=design.module,
            data=tuple(map(str, design.data)),
            ports=None if design.ports is None else str(design.ports),
            clock=pins.clock,
            latency=pins.latency,
            reset=pins.reset,
            enable=pins.enable,
            valid_in=pins.valid_in,
            valid_out=pins.valid_out,
        )
        vhdl = request.policy is None and any(map(is_vhdl, design.rtl))
        given = with_rtl(given, rtl, (GHDL,) if vhdl else None)
    return given if request.seed is None else Given(given.policy.with_seed(request.seed), given.text)


def _signer(request: SignOffRequest) -> session.Signer | None:
    if request.key is None:
        return None
    key = load_key(request.key, request.passphrase)
    return session.Signer(fingerprint(public_key(key)), lambda data: sign(data, key))


def _locked(folder: Path) -> AbstractContextManager[FileLock]:
    """Lock ``folder`` against other sign-offs. Raises ``InputError`` if another one holds it."""
    from filelock import FileLock, Timeout

    session.require_ours(folder)
    make_folder(folder)
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        return lock.acquire()
    except Timeout:
        raise PolicyError(f"{str(folder)!r} is in use by another sign-off; choose another folder with -o") from None
    except PermissionError as error:
        raise PolicyError(f"cannot write in {str(folder)!r}: {error.strerror}; choose another folder with -o") from None
