"""The example that signs off a bitstream runs to its end as the documentation shows it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.bitstreams import require_icestorm

EXAMPLE = Path(__file__).parents[2] / "examples" / "bitstream" / "sign.sh"


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    verb = shlex.join([sys.executable, "-m", "dais_verif"])
    return subprocess.run(
        ["sh", EXAMPLE, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "DAIS_VERIF": verb},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_program_becomes_a_bitstream_with_a_certificate(tmp_path: Path) -> None:
    require_icestorm()
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "signed" / "certificate.json").is_file()
    assert "model.bin" in (tmp_path / "signed" / "certificate.json").read_text()
    # The last step fails for a bitstream other than the certified one, and the script ends with it.
    data = bytearray((tmp_path / "built" / "model.bin").read_bytes())
    data[len(data) // 2] ^= 4
    (tmp_path / "deployed.bin").write_bytes(data)
    last = [sys.executable, "-m", "dais_verif", "signoff", "--verify", "signed", "--allowed-signers", "signers"]
    other = subprocess.run([*last, "--bitstream", "deployed.bin"], cwd=tmp_path, capture_output=True, text=True)
    assert other.returncode == 7, other.stdout + other.stderr


@pytest.mark.slow
def test_a_program_that_is_none_ends_it(tmp_path: Path) -> None:
    require_icestorm()
    (tmp_path / "prog.bin").write_bytes(b"no program")
    done = run(tmp_path, tmp_path / "prog.bin")
    assert done.returncode == 2 and not (tmp_path / "signed").exists()
