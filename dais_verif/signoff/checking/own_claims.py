"""Compare the certificate's own claims with its policy and its files, without any run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from dais_verif.dut.outside import included_in
from dais_verif.files import read_plain
from dais_verif.record.certificate import CertificateFinding
from dais_verif.record.signoff import StageResult
from dais_verif.signoff.certificate import Certificate
from dais_verif.signoff.context import Context
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.subject import ROLES
from dais_verif.signoff.toolbox import tool_names
from dais_verif.toolchain.sources import MOST_RTL_BYTES

__all__ = ["problems_of_claims"]


def problems_of_claims(
    certificate: Certificate, context: Context, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    """Yield differences of files from those that policy and RTL name, and of tools from those that are needed."""
    yield from _files(certificate, context.policy)
    yield from _includes(certificate, context)
    yield from _tools(certificate, context.policy, results)


def _files(certificate: Certificate, policy: Policy) -> Iterator[CertificateFinding]:
    """Compare the names of the files in the policy with the names of the signed-off files."""
    rtl = policy.rtl
    named: dict[str, Sequence[str]] = {
        "rtl": rtl.files or [f"{rtl.top}.v"],
        "input": policy.inputs,
        "ports": [] if rtl.ports is None else [rtl.ports],
        **{role: [] for role in ("frame", "against", "bitstream", "pins")},
        **{role: [name] for role, name in (policy.diff.files | policy.bitstream.files).items()},
    }
    there = {role: [Path(file.path).name for file in certificate.files if file.role == role] for role in ROLES}
    for role, names in named.items():
        wanted = [Path(name).name for name in names]
        if there[role] != wanted:
            yield CertificateFinding(f"files of role {role}", _listed(wanted), _listed(there[role]))
    # The policy may also name folders of data files: names without a suffix are not compared.
    data = {name for file in certificate.files if file.role == "data" for name in PurePath(file.path).parts[-2:]}
    if missing := [name for name in rtl.data if Path(name).suffix and Path(name).name not in data]:
        yield CertificateFinding("files of role data", _listed(missing), _listed(there["data"]))
    if others := sorted({file.role for file in certificate.files} - set(ROLES)):
        yield CertificateFinding("roles of files", _listed(ROLES), _listed(others))


def _includes(certificate: Certificate, context: Context) -> Iterator[CertificateFinding]:
    """Yield the files that the RTL includes and that are not among the signed-off files."""
    if context.subject.emitted:
        return
    known = [PurePath(file.path).parts for file in certificate.files if file.role == "include"]
    for file in (*context.subject.of("rtl"), *context.subject.of("include")):
        for name in included_in(read_plain(Path(file.path), MOST_RTL_BYTES, "RTL file")):
            parts = PurePath(name or "").parts
            if not parts or not any(path[-len(parts) :] == parts for path in known):
                yield CertificateFinding(f"files that {file.path} includes", name or "a name in quotes", "none")


def _tools(certificate: Certificate, policy: Policy, results: Sequence[StageResult]) -> Iterator[CertificateFinding]:
    netlist = any(result.name == "netlist" and result.passed for result in results)
    needed, possible = tool_names(policy, netlist=netlist)
    found = certificate.tools.keys()
    if not needed <= found <= needed | possible:
        wanted = sorted(needed | found & possible)
        yield CertificateFinding("tools of the certificate", _listed(wanted), _listed(sorted(found)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) or "none"
