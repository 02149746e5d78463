"""The functions of ``import dais_verif`` that run verbs as processes, many at a time: regressions and sign-offs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import dais_verif.notebooks  # noqa: F401  # records show themselves
from dais_verif.flows.progress import SILENT, Progress

if TYPE_CHECKING:
    from dais_verif.record.certificate import CertificateRecord
    from dais_verif.record.regression import RegressionRecord
    from dais_verif.record.signoff import SignOffRecord

__all__ = ["regress", "sign_off", "verify_certificate"]

_Path = str | PathLike[str]


def _paths(paths: Sequence[_Path] | _Path) -> tuple[Path, ...]:
    return (Path(paths),) if isinstance(paths, str | PathLike) else tuple(map(Path, paths))


def _path(path: _Path | None) -> Path | None:
    return None if path is None else Path(path)


def regress(
    paths: Sequence[_Path] | _Path,
    *,
    simulators: Sequence[str] | str = (),
    seeds: Sequence[int] = (),
    seed_from: _Path | None = None,
    fresh_seed: bool = False,
    vectors: int | None = None,
    stages: Sequence[int] = (),
    jobs: int | None = None,
    shard: tuple[int, int] | None = None,
    fail_fast: bool = False,
    resume: bool = False,
    rerun_failed: bool = False,
    retries: int = 1,
    allow_flaky: bool = False,
    timeout: float | None = None,
    cluster: str | None = None,
    output: _Path = "dais-verif-regress",
    progress: Progress = SILENT,
) -> RegressionRecord:
    """Simulate many programs, variants, simulators and seeds, each job in a process of its own.

    ``paths``: programs, folders, globs or TOML manifests. ``simulators``: of ``icarus``, ``verilator``, ``both`` and
    ``ghdl``, each of which simulates every job. ``shard``: ``(2, 5)`` is the second of five shares. ``timeout``:
    seconds for each attempt. ``output``: the folder that is kept. Other arguments are the options of ``dais-verif
    regress``. Raises ``InputError`` if something cannot be used, or another run works in the folder.
    """
    from dais_verif.flows.regress import RegressionRequest
    from dais_verif.flows.regress import regress as flow

    request = RegressionRequest(
        paths=(str(paths),) if isinstance(paths, str | PathLike) else tuple(map(str, paths)),
        simulators=(simulators,) if isinstance(simulators, str) else tuple(simulators),
        seeds=tuple(seeds),
        seed_from=_path(seed_from),
        fresh_seed=fresh_seed,
        vectors=vectors,
        stages=tuple(stages),
        jobs=jobs,
        shard=shard,
        fail_fast=fail_fast,
        resume=resume,
        rerun_failed=rerun_failed,
        retries=retries,
        allow_flaky=allow_flaky,
        timeout=timeout,
        cluster=cluster,
        output=Path(output),
    )
    return flow(request, progress=progress)


def sign_off(
    program: _Path,
    *,
    layout: str | None = None,
    policy: _Path | None = None,
    rtl: Sequence[_Path] | _Path = (),
    top: str = "model",
    data: Sequence[_Path] | _Path = (),
    ports: _Path | None = None,
    clock: str | None = None,
    latency: int | Literal["auto"] | None = None,
    reset: str | None = None,
    enable: str | None = None,
    valid_in: str | None = None,
    valid_out: str | None = None,
    seed: int | None = None,
    key: _Path | None = None,
    passphrase: Callable[[str], str] | None = None,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress = SILENT,
) -> SignOffRecord:
    """Run all that a policy asks of a program and its RTL, and certify it if all of it is there.

    ``program``: a file, which is what is certified. ``policy``: a TOML file; None: what is built in. ``rtl``: in place
    of what the policy says of RTL. ``key``: an Ed25519 key that signs the certificate; ``passphrase``: returns its
    own, given a prompt. ``output``: the folder that receives certificate, record and evidence; None: ``signoff-NAME``.
    The verdict is PASS or NOT_SIGNED_OFF. Raises ``InputError`` for what cannot be used at all.
    """
    from dais_verif.flows.designs import DesignRequest
    from dais_verif.flows.pins import Pins
    from dais_verif.flows.sign_off import SignOffRequest
    from dais_verif.flows.sign_off import sign_off as flow

    request = SignOffRequest(
        program=program if isinstance(program, str) else Path(program),
        layout=layout,
        policy=_path(policy),
        design=DesignRequest(
            rtl=_paths(rtl),
            data=_paths(data),
            top=top,
            ports=_path(ports),
            pins=Pins(clock, latency, reset, enable, valid_in, valid_out),
        ),
        seed=seed,
        key=_path(key),
        passphrase=passphrase,
        jobs=jobs,
        output=_path(output),
    )
    return flow(request, progress=progress)


def verify_certificate(
    certificate: _Path,
    *,
    program: _Path | None = None,
    rtl: Sequence[_Path] | _Path = (),
    allowed_signers: _Path | None = None,
    verify_time: datetime | None = None,
    same_tools: bool = False,
    rerun: bool = False,
    jobs: int | None = None,
    progress: Progress = SILENT,
) -> CertificateRecord:
    """Check a certificate, a file or the folder of a sign-off, against the files that it speaks of.

    ``program``, ``rtl``: where the files are now, if not where they were. ``allowed_signers``: who may sign, as for
    ssh-keygen; then it must be signed, by ``verify_time`` (with its time zone) or now. ``same_tools``: the tools here
    must be those that it was made with. ``rerun``: sign off again, and compare. The verdict is PASS or NOT_SIGNED_OFF,
    with ``findings``. Raises ``InputError`` if there is no certificate.
    """
    from dais_verif.flows.verify_certificate import CertificateRequest
    from dais_verif.flows.verify_certificate import verify_certificate as flow

    request = CertificateRequest(
        certificate=Path(certificate),
        program=_path(program),
        rtl=_paths(rtl),
        allowed_signers=_path(allowed_signers),
        verify_time=verify_time,
        same_tools=same_tools,
        rerun=rerun,
        jobs=jobs,
    )
    return flow(request, progress=progress)
