"""``regress``, ``sign_off`` and ``verify_certificate``: functions and commands give the same records."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support import fake_jobs
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.regression import cluster, executors
from dais_verif.doors.cli import main
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.signoff import CERTIFICATE, CertificateFinding, CertificateRecord
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.regress import RegressionRequest
from dais_verif.verbs.sign_off import SignOffRequest
from dais_verif.verbs.verify_certificate import CertificateRequest, verify_certificate

SUM = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (0, 0, 0, 0, (0, 5, 0))], [(1, 0, 0)], inp_shift=[0])


def told(*words: object) -> dict[str, Any]:
    """Return the record that the command prints with ``--json``."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        main._run([*map(str, words), "--json"])
    tree: dict[str, Any] = json.loads(out.getvalue())
    return tree


# regress


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write programs and replace jobs by fake ones, which do what their program says, without simulators or history."""
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    for module, name in ((executors, "Local"), (cluster, "Cluster")):
        monkeypatch.setattr(module, name, getattr(module, name))
    fake_jobs.patch()
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "good.bin").write_text("pass")
    (folder / "wrong.bin").write_text("fail")
    return folder


def unvarying(tree: dict[str, Any]) -> dict[str, Any]:
    """Return the record without times, and without the command line, which the command records as it was typed."""
    jobs = [{**job, "seconds": 0, "worker": "", "result": ""} for job in tree["jobs"]]
    return {**tree, "times": None, "reproduce": "", "jobs": jobs}


def test_a_regression_by_function_by_command_and_by_its_own_line(programs: Path, tmp_path: Path) -> None:
    record = dais_verif.regress(
        programs, simulators="icarus", seeds=[1, 2], vectors=7, retries=0, jobs=2, output=tmp_path / "a"
    )
    assert record.verdict is Verdict.RTL_MISMATCH and not record.passed and record.planned == 4
    assert [result.verdict.value for result in record.jobs] == ["PASS"] * 2 + ["RTL_MISMATCH"] * 2
    assert RegressionRecord.from_json(record.to_json()) == record
    words = ["--sim", "icarus", "--seed", 1, "--seed", 2, "--vectors", 7, "--retries", 0, "--jobs", 2]
    by_command = told("regress", programs, *words, "-o", tmp_path / "b")
    assert unvarying(by_command) == unvarying(record.to_dict())
    assert unvarying(told(*shlex.split(record.reproduce)[1:])) == unvarying(record.to_dict())


def test_a_regression_tells_what_goes_on(programs: Path, tmp_path: Path) -> None:
    class Listener(dais_verif.Progress):
        def __init__(self) -> None:
            self.planned, self.ended, self.warned = 0, list[str](), list[str]()

        def warning(self, text: str) -> None:
            self.warned.append(text)

        def jobs_planned(self, jobs: int, past: object) -> None:
            self.planned = jobs

        def job_ends(self, result: Any) -> None:
            self.ended.append(result.verdict.value)

    listener = Listener()
    paths = [programs / "good.bin", tmp_path / "none*.bin"]
    record = dais_verif.regress(paths, jobs=1, output=tmp_path / "out", progress=listener)
    assert (listener.planned, listener.ended) == (1, ["PASS"])
    assert record.verdict is Verdict.NOT_RUN and listener.warned == record.warnings and len(record.warnings) == 1


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"paths": ()}, "paths"),
    ({"seeds": (1,), "fresh_seed": True}, ""),
    ({"resume": True, "rerun_failed": True}, ""),
    ({"simulators": ("modelsim",)}, "simulators"),
    ({"seeds": (-1,)}, "seeds"),
    ({"vectors": -1}, "vectors"),
    ({"stages": (-2,)}, "stages"),
    ({"retries": 101}, "retries.*101"),
    ({"timeout": float("nan")}, "timeout.*nan"),
    ({"shard": (3, 2)}, "shard 3/2"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_regression_that_nobody_can_mean(given: dict[str, Any], message: str) -> None:
    with raises(RequestError, match=message):
        RegressionRequest(**{"paths": ("a.bin",), **given})


# sign_off and verify_certificate


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sign off with a quick policy through the API, and return the folder."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "prog.bin").write_bytes(write_binary(SUM, "v1"))
    (folder / "policy.toml").write_text(
        'simulators = ["icarus"]\nvectors = 40\ndistinct = 4\nexhaustive_bits = 0\nproof = "off"\n'
    )
    told: list[str] = []

    class Listener(dais_verif.Progress):
        def stage_begins(self, name: str, number: int, total: int) -> None:
            told.append(name)

    record = dais_verif.sign_off(
        folder / "prog.bin", policy=folder / "policy.toml", output=folder / "out", jobs=1, progress=Listener()
    )
    assert record.passed, record.message
    assert told == [stage.name for stage in record.stages] and "known-bad RTL, simulated" in told
    assert type(record).from_json(record.to_json()) == record
    assert (folder / "out" / "signoff.json").read_text() == record.to_json()
    words = ["--policy", folder / "policy.toml", "--output", folder / "out"]
    assert record.reproduce == dais_verif_line("signoff", folder / "prog.bin", *words)
    return folder / "out"


def dais_verif_line(*words: object) -> str:
    from dais_verif.base.own_command import own_command

    return own_command([*map(str, words)])


def test_a_certificate_by_function_and_by_command(signed: Path) -> None:
    record = dais_verif.verify_certificate(signed)
    as_recorded(record.message)
    assert record.passed and record.findings == []
    assert record.facts is not None and record.facts.evidence > 0
    assert told("signoff", "--verify", signed) == record.to_dict()


def test_a_changed_file_is_a_finding_by_both(signed: Path, tmp_path: Path) -> None:
    other = tmp_path / "prog.bin"
    other.write_bytes(write_binary(SUM, "v1") + b"\0")
    record = dais_verif.verify_certificate(signed / CERTIFICATE, program=other)
    assert record.verdict is Verdict.NOT_SIGNED_OFF and not record.passed and record.findings
    assert told("signoff", "--verify", signed, "--program", other) == record.to_dict()
    assert CertificateRecord.from_json(record.to_json()).findings == record.findings


def test_a_damaged_certificate_is_a_finding_and_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / CERTIFICATE).write_text("{}")
    record = verify_certificate(CertificateRequest(certificate=tmp_path))
    as_recorded([finding.expected for finding in record.findings])
    assert record.facts is None and told("signoff", "--verify", tmp_path) == record.to_dict()
    with raises(InputError):
        dais_verif.verify_certificate(tmp_path / "nowhere")


def test_the_message_counts_findings() -> None:
    finding = CertificateFinding("a", "b", "c")
    one, two = (CertificateRecord(verdict=Verdict.NOT_SIGNED_OFF, findings=[finding] * n) for n in (1, 2))
    as_recorded(one.message)
    as_recorded(two.message)


def test_a_sign_off_that_nobody_can_mean(tmp_path: Path) -> None:
    with raises(RequestError):
        SignOffRequest(program=SUM)  # type: ignore[arg-type]
    with raises(RequestError):
        SignOffRequest(program="a.bin", design=DesignRequest(ports=Path("ports.toml")))
    with raises(RequestError):
        SignOffRequest(program="a.bin", design=DesignRequest(rtl=(Path("a.v"),), parameters=(("W", "8"),)))
    with raises(RequestError):
        CertificateRequest(certificate=tmp_path, verify_time=datetime.now(UTC))
    with raises(RequestError, match="time"):
        CertificateRequest(certificate=tmp_path, allowed_signers=tmp_path, verify_time=datetime(2027, 1, 1))


def test_whoever_asks_however_wrongly_withdraws_the_certificate(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / CERTIFICATE).write_text('{"schema": "dais-verif/certificate/2"}')
    with pytest.raises(InputError, match="policy"):
        dais_verif.sign_off(tmp_path / "prog.bin", policy=tmp_path / "none.toml", output=tmp_path / "out")
    assert not (tmp_path / "out" / CERTIFICATE).exists()
