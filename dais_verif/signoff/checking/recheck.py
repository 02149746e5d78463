"""Check a certificate against its files, and judge its evidence again.

Most claims of a certificate also follow from the evidence, so that a changed claim is detected even if an attacker
makes all hashes consistent. Forged evidence is detected only by the signature, or by a new run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath

from dais_verif.base.errors import CertificateError, DaisError, InputError
from dais_verif.base.files import read_plain
from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import MOST_RTL_BYTES
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.outside_effects import included_in
from dais_verif.record.read import read_record
from dais_verif.record.signoff import CertificateFinding, SignOffRecord, StageResult
from dais_verif.signoff.certificate import (
    CERTIFICATE,
    Certificate,
    files_in,
    is_evidence,
    parse_certificate,
    stages_in,
)
from dais_verif.signoff.checking.comparison import Difference, Pair, differences, of_stages
from dais_verif.signoff.context import Context
from dais_verif.signoff.evidence import simulated
from dais_verif.signoff.judge import SENT
from dais_verif.signoff.kept_evidence import unjudged
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.mutation import certified_score
from dais_verif.signoff.places import Places, find_files
from dais_verif.signoff.policy import Given, Policy, in_force, policy_of
from dais_verif.signoff.results import EVIDENCE, issued_at, judged_again, outputs_of, time_of
from dais_verif.signoff.session import POLICY, RECORD, sign_off
from dais_verif.signoff.signatures import Trust, check_signature
from dais_verif.signoff.signed_design import ROLES, FileHash, Subject, load_design, top_of
from dais_verif.signoff.stages import stages_of
from dais_verif.signoff.toolbox import runtime_of, tool_names, tools_of, with_paths
from dais_verif.signoff.verbs import PRINTED
from dais_verif.subject.applied_folder import files_beside

__all__ = ["CertificateCheck", "check_certificate", "problems_of_claims", "read_certificate", "run_again", "shortened"]


#: Clocks of computers differ by seconds; a certificate may be checked on another one right after its issue.
_CLOCKS_DIFFER = timedelta(minutes=2)
#: Size limit of a certificate, which has one line per file.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class CertificateCheck:
    """The result of checking a certificate: ``findings`` invalidate it, ``notes`` do not."""

    certificate: Certificate
    folder: Path
    #: The context with the current paths of the files; None if the check ended before the design could be loaded.
    context: Context | None
    findings: list[CertificateFinding]
    notes: list[str]
    #: The current path of each certified file; empty if none was looked for.
    files: tuple[Path, ...] = ()


def read_certificate(path: Path) -> tuple[Certificate, Path, bytes]:
    """Return the certificate in the file or folder ``path``, its folder and its bytes. Raises ``InputError``."""
    file = path / CERTIFICATE if path.is_dir() else path
    if not file.exists():
        raise CertificateError(f"no certificate {str(file)!r}: {_why_missing(file.parent)}")
    data = read_plain(file, _MOST_BYTES, "certificate")
    return parse_certificate(data, str(file)), file.parent, data


def _why_missing(folder: Path) -> str:
    """Return a text that says why there is no certificate in ``folder``, and what the user can do."""
    try:
        record = read_record(folder / RECORD)
    except InputError:
        return "No such file; name the folder of a sign-off"
    if not isinstance(record, SignOffRecord) or record.passed:
        return "No such file; sign off again"
    if record.state != "complete":
        return "the sign-off in this folder has not ended, or was killed; let it end, or sign off again"
    return (
        f"the sign-off in this folder ended in {record.verdict.value}, and only one that passes writes a certificate:"
        f" {record.message}; correct that and sign off again"
    )


def check_certificate(
    certificate: Certificate,
    folder: Path,
    data: bytes,
    *,
    places: Places | None = None,
    trust: Trust | None = None,
    same_tools: bool = False,
) -> CertificateCheck:
    """Check everything that can be checked without a run.

    ``places``: the locations of files that were moved. ``trust``: allowed signers; if given, a signature is required.
    ``same_tools``: a tool that is not the same as in the sign-off is a finding instead of a note. The signature is
    checked first: if there is a finding about it, no file that the certificate names is opened.
    """
    signed, notes = check_signature(certificate, folder, data, trust)
    if signed:
        return CertificateCheck(certificate, folder, None, signed, notes)
    files, findings = find_files(certificate.files, folder, places or Places())
    try:
        findings += _evidence(certificate, files_in(folder))
    except InputError as error:  # return before other files of the folder are read, which may be pipes or endless
        return CertificateCheck(
            certificate, folder, None, [*findings, CertificateFinding(str(folder), "plain files", str(error))], notes
        )
    findings += _dates(certificate)
    try:
        policy = policy_of(certificate.policy, "the certificate's policy")
    except InputError as error:
        return CertificateCheck(
            certificate, folder, None, [*findings, CertificateFinding("policy", "a policy", str(error))], notes
        )
    tools = _tools(certificate, policy)
    findings += tools if same_tools else []
    notes += [] if same_tools else [f"another tool here: {finding}" for finding in tools]
    context = None
    try:
        context = Context(_subject(certificate, files), policy, folder / EVIDENCE)
        findings += _judge(certificate, context, folder)
    except DaisError as error:
        findings.append(CertificateFinding("evidence", "a sign-off that can be judged", str(error)))
    return CertificateCheck(certificate, folder, context, findings, notes, tuple(files))


# files


def _subject(certificate: Certificate, files: Sequence[Path]) -> Subject:
    """Return the signed-off design, with the current paths of its files, and the hashes in the certificate."""
    pairs = list(zip(certificate.files, files, strict=True))
    programs = [now for was, now in pairs if was.role == "program"]
    if len(programs) != 1:
        raise CertificateError(f"the certificate names {counted(len(programs), 'program')}, must name one")
    design = load_design(programs[0], certificate.layout)
    if design.hash != certificate.program:
        raise CertificateError(f"the program is {design.hash}, must be {certificate.program}")
    if any(was.role == "configuration" for was in certificate.files):
        files_beside(programs[0], design.hash)
    hashes = tuple(FileHash(was.role, str(now.absolute()), was.sha256, was.name) for was, now in pairs)
    return Subject(design, programs[0], certificate.layout, certificate.emitted, certificate.top, hashes)


def _evidence(certificate: Certificate, there: Mapping[str, str]) -> Iterator[CertificateFinding]:
    told = {**certificate.evidence, **certificate.logs}
    if not all(map(is_evidence, certificate.evidence)) or any(map(is_evidence, certificate.logs)):
        yield CertificateFinding("evidence", f"the files in {EVIDENCE}, and all others as logs", "another division")
    for name in sorted({*there, *told}):
        expected, found = told.get(name), there.get(name)
        if expected != found:
            yield CertificateFinding(name, _told(expected, "no such file"), _told(found, "nothing"))


def _told(sha256: str | None, without: str) -> str:
    return without if sha256 is None else f"sha256 {sha256}"


# claims of the certificate itself


def _dates(certificate: Certificate) -> Iterator[CertificateFinding]:
    issued, now = time_of(certificate.issued), datetime.now(UTC)
    if issued is None:
        yield CertificateFinding("issued", "a time with its zone", certificate.issued)
    elif issued > now + _CLOCKS_DIFFER:
        yield CertificateFinding(
            "issued", f"a time before now, {now.isoformat(timespec='seconds')}", certificate.issued
        )
    for waiver in certificate.waivers:
        if waiver.expires < now.date().isoformat():
            yield CertificateFinding(f"waiver of {waiver.what}", "one that holds", f"expired on {waiver.expires}")


def _tools(certificate: Certificate, policy: Policy) -> list[CertificateFinding]:
    try:
        runtime = runtime_of(policy, installed=True, cache=Path())
        here = tools_of(policy, runtime, netlist="yosys" in certificate.tools)
    except DaisError as error:
        return [CertificateFinding("tools", "those of the certificate", str(error))]
    findings = []
    for name in sorted({*here, *certificate.tools}):
        expected, found = certificate.tools.get(name), here.get(name)
        if expected != found:
            told = [f"{tool.version} ({tool.sha256[:16]}...)" if tool else "none" for tool in (expected, found)]
            findings.append(CertificateFinding(f"tool {name}", *told))
    return findings


# the evidence, judged again


def _judge(certificate: Certificate, context: Context, folder: Path) -> Iterator[CertificateFinding]:
    record = read_record(folder / RECORD)
    if not isinstance(record, SignOffRecord):
        yield CertificateFinding(RECORD, "the record of a sign-off", type(record).__name__)
        return
    issued = time_of(certificate.issued) or datetime.now(UTC)
    waivers, _ = in_force(context.policy.waivers, issued.date())
    stages = stages_of(context)
    results = judged_again(context, stages, waivers)
    others = list(_stages(certificate, record, results))
    yield from others or unjudged(context, stages, results)
    for result in results:
        if not (result.passed or result.waived or result.optional):
            yield CertificateFinding(
                f"stage {result.name}", "one that passes", f"{result.verdict.value}: {result.message}"
            )
    yield from _agrees(certificate, record, context, results)
    held = [waiver.told() for waiver in waivers.values()]
    if certificate.waivers != held:
        yield CertificateFinding("waivers", *shortened(held, certificate.waivers))


def _stages(
    certificate: Certificate, record: SignOffRecord, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    again, said = stages_in(results), stages_in(record.stages)
    names = [stage.name for stage in again]
    for what, stages in (("the certificate", certificate.stages), (RECORD, said)):
        if [stage.name for stage in stages] != names:
            yield CertificateFinding(
                f"stages of {what}", ", ".join(names), ", ".join(stage.name for stage in stages) or "none"
            )
            continue
        for now, then in zip(again, stages, strict=True):
            if now != then:
                told = [f"{'passed' if one.passed else 'not passed'} with {one.verdict.value}" for one in (now, then)]
                yield CertificateFinding(f"stage {now.name} of {what}", *told)


def _agrees(
    certificate: Certificate, record: SignOffRecord, context: Context, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    """Yield differences between the certificate, the record of the sign-off and the evidence."""
    versions = {name: tool.version for name, tool in certificate.tools.items()}
    pairs: Mapping[str, tuple[object, object]] = {
        f"verdict in {RECORD}": (Verdict.PASS.value, record.verdict.value),
        f"state in {RECORD}": ("complete", record.state),
        f"policy in {RECORD}": (certificate.policy, record.policy),
        f"tools in {RECORD}": (versions, record.tools),
        f"program in {RECORD}": (certificate.program, record.program.hash),
        f"RTL in {RECORD}": ([file.sha256 for file in context.subject.of("rtl")], record.rtl.sha256),
        f"waivers in {RECORD}": (certificate.waivers, record.waivers),
        f"outputs in {RECORD}": (certificate.outputs, record.outputs),
        "issued": (issued_at(record.times) if record.times else None, certificate.issued),
        "outputs": (outputs_of(context, results), certificate.outputs),
        "mutation": (certified_score(context), certificate.mutation),
        "emitted": (not context.policy.rtl.files, certificate.emitted),
        "top": (top_of(context.policy, list(map(Path, context.subject.rtl))), certificate.top),
    }
    for what, (expected, found) in pairs.items():
        if expected != found:
            yield CertificateFinding(what, *shortened(expected, found))
    yield from _versions(certificate, context, results)
    yield from problems_of_claims(certificate, context, results)


def _versions(
    certificate: Certificate, context: Context, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    """Yield the simulators whose version in the certificate differs from their version in the passed runs.

    A run on a board is skipped, since a board has no version.
    """
    for stage, result in zip(stages_of(context), results, strict=True):
        folder = context.folder / stage.folder
        folder = folder if (folder / SENT).is_file() else folder / "sim"
        if not result.passed or not (folder / PRINTED).is_file():
            continue
        for one in simulated(folder).simulators:
            tool = certificate.tools.get(one.name)
            if tool is None or tool.version != one.version:
                yield CertificateFinding(f"tool {one.name}", one.version or "none", tool.version if tool else "none")


def shortened(*values: object) -> list[str]:
    """Return ``values`` as texts, each cut off after 160 characters."""
    texts = [str(value) for value in values]
    return [text if len(text) <= 160 else f"{text[:160]}..." for text in texts]


# Compare the certificate's own claims with its policy and its files, without any run.


def problems_of_claims(
    certificate: Certificate, context: Context, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    """Yield differences of files from those that policy and RTL name, and of tools from those that are needed."""
    yield from _files(certificate, context.policy)
    yield from _includes(certificate, context)
    yield from _tools_of_own_claims(certificate, context.policy, results)


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


def _tools_of_own_claims(
    certificate: Certificate, policy: Policy, results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    netlist = any(result.name == "netlist" and result.passed for result in results)
    needed, possible = tool_names(policy, netlist=netlist)
    found = certificate.tools.keys()
    if not needed <= found <= needed | possible:
        wanted = sorted(needed | found & possible)
        yield CertificateFinding("tools of the certificate", _listed(wanted), _listed(sorted(found)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) or "none"


# Repeat the sign-off of a certificate, to compare the results.


def run_again(
    checked: CertificateCheck,
    folder: Path,
    *,
    reproduce: str,
    jobs: int | None,
    paranoid: bool,
    listener: SignOffListener,
) -> Iterator[Difference]:
    """Yield how a new sign-off of the same files by the same policy differs. ``folder`` receives its evidence."""
    context = checked.context
    if context is None:
        return
    subject = context.subject
    policy = with_paths(context.policy, subject, _data(context.policy, subject))
    given = Given(policy, (checked.folder / POLICY).read_text(encoding="utf-8"))
    record = sign_off(
        subject.design,
        subject.path,
        subject.layout,
        given,
        folder,
        reproduce=reproduce,
        jobs=jobs,
        paranoid=paranoid,
        listener=listener,
        kernel=[Path(file.path) for file in subject.of("kernel")],
    )
    if record.verdict is not Verdict.PASS:
        yield Difference("verdict", "SIGNED OFF", f"{record.verdict.value}: {record.message}")
        yield from of_stages(checked.certificate.stages, stages_in(record.stages))
        return
    again, there, _ = read_certificate(folder)
    yield from differences(Pair(checked.certificate, again, (checked.folder, there)))


def _data(policy: Policy, subject: Subject) -> Iterator[str]:
    """Yield the current path of each data file or folder that ``policy`` names, or its old path if it is not certified.

    The name of a certified file in such a folder begins with the name of the folder.
    """
    for given in policy.rtl.data:
        path = given
        for file in subject.of("data"):
            parts = PurePath(file.name).parts
            if parts[0] == PurePath(given).name:
                path = file.path if len(parts) == 1 else str(PurePath(file.path).parents[len(parts) - 2])
                break
        yield path
