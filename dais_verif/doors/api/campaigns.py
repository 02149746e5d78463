"""The functions of ``import dais_verif`` that run many processes in parallel: regressions and sign-offs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Literal

from dais_verif.base.packages import name_missing_packages
from dais_verif.verbs.arguments import path_from, paths_from, required_path, texts_from
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.campaigns import RegressionRecord
    from dais_verif.record.signoff import CertificateRecord, SignOffRecord

__all__ = ["regress", "sign_off", "verify_certificate"]

_Path = str | PathLike[str]


@name_missing_packages
def regress(
    paths: Sequence[_Path] | _Path,
    *,
    simulators: Sequence[str] | str | None = None,
    seeds: Sequence[int] | None = None,
    seed_from: _Path | None = None,
    fresh_seed: bool = False,
    vectors: int | None = None,
    stages: Sequence[int] | None = None,
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
    progress: Progress | None = None,
) -> RegressionRecord:
    """Simulate many programs, variants, simulators and seeds, each job in a separate process.

    ``paths``: programs, folders, globs or TOML manifests. ``simulators``: any of ``icarus``, ``verilator``, ``both``
    and ``ghdl``, each of which runs every job. ``shard``: ``(2, 5)`` is the second of five shares. ``timeout``: seconds
    per attempt. ``output``: the folder for results. Other arguments are the options of ``dais-verif regress``. Raises
    ``InputError`` for unusable arguments, or if another run uses the folder.
    """
    from dais_verif.verbs.regress import RegressionRequest
    from dais_verif.verbs.regress import regress as flow

    request = RegressionRequest(
        paths=tuple(map(str, paths_from("paths", paths))),
        simulators=texts_from("simulators", simulators),
        seeds=texts_from("seeds", seeds),
        seed_from=path_from("seed_from", seed_from),
        fresh_seed=fresh_seed,
        vectors=vectors,
        stages=texts_from("stages", stages),
        jobs=jobs,
        shard=tuple(shard) if isinstance(shard, list) else shard,
        fail_fast=fail_fast,
        resume=resume,
        rerun_failed=rerun_failed,
        retries=retries,
        allow_flaky=allow_flaky,
        timeout=timeout,
        cluster=cluster,
        output=required_path("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def sign_off(
    program: _Path,
    *,
    layout: str | None = None,
    policy: _Path | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str | None = None,
    data: Sequence[_Path] | _Path | None = None,
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
    paranoid: bool = False,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SignOffRecord:
    """Run all stages of a policy for a program and its RTL, and issue a certificate if all of them pass.

    ``program``: the file to certify. ``policy``: a TOML file; None: the built-in policy. ``rtl``: files that replace
    the RTL in the policy. ``key``: an Ed25519 key that signs the certificate; ``passphrase``: a function that returns
    the key's passphrase, given a prompt. ``paranoid``: compile Verilator's runtime again. ``output``: the folder for
    certificate, record and evidence; None: ``signoff-NAME``. The verdict is PASS or NOT_SIGNED_OFF. Raises
    ``InputError`` for unusable arguments.
    """
    from dais_verif.verbs.design_options import DesignOptions
    from dais_verif.verbs.designs import DesignRequest
    from dais_verif.verbs.pins import Pins
    from dais_verif.verbs.recognition import recognised
    from dais_verif.verbs.sign_off import SignOffRequest
    from dais_verif.verbs.sign_off import sign_off as flow

    request = SignOffRequest(
        program=required_path("program", program),
        layout=layout,
        policy=path_from("policy", policy),
        design=recognised(
            DesignRequest(
                rtl=paths_from("rtl", rtl),
                data=paths_from("data", data),
                top=top,
                ports=path_from("ports", ports),
                pins=Pins(clock, latency, reset, enable, valid_in, valid_out),
            ),
            DesignOptions(),
        ),
        seed=seed,
        key=path_from("key", key),
        passphrase=passphrase,
        paranoid=paranoid,
        jobs=jobs,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def verify_certificate(
    certificate: _Path,
    *,
    program: _Path | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    allowed_signers: _Path | None = None,
    verify_time: datetime | None = None,
    same_tools: bool = False,
    rerun: bool = False,
    paranoid: bool = False,
    bitstream: _Path | None = None,
    policy: _Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> CertificateRecord:
    """Check a certificate against the files that it lists; ``certificate`` is its file, or the folder of a sign-off.

    ``program``, ``rtl``: the current places of the files, if they were moved. ``allowed_signers``: an allowed signers
    file, as for ssh-keygen; it requires a signature that is valid at ``verify_time`` (with its time zone), or now.
    ``same_tools``: the tools must be those of the sign-off. ``rerun``: sign off again, and compare; ``paranoid``: that
    run compiles Verilator's runtime again. ``policy``: a file of which the certificate's policy must demand at least as
    much. ``bitstream``: the bitstream that will be loaded into a device; its configuration must equal that of the
    certified bitstream. The verdict is PASS or NOT_SIGNED_OFF, with ``findings``. Raises ``InputError`` if there is no
    certificate.
    """
    from dais_verif.verbs.verify_certificate import CertificateRequest
    from dais_verif.verbs.verify_certificate import verify_certificate as flow

    request = CertificateRequest(
        certificate=required_path("certificate", certificate),
        program=path_from("program", program),
        rtl=paths_from("rtl", rtl),
        allowed_signers=path_from("allowed_signers", allowed_signers),
        verify_time=verify_time,
        same_tools=same_tools,
        rerun=rerun,
        paranoid=paranoid,
        bitstream=path_from("bitstream", bitstream),
        policy=path_from("policy", policy),
        jobs=jobs,
    )
    return flow(request, progress=listener(progress))
