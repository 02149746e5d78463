"""Worker processes end when their parent is killed or interrupted, and do not run its script again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dais_verif.base.worker_processes import worker_processes
from dais_verif.campaigns.regression import cluster

SCRIPT = """
import os, time
from dais_verif.base.worker_processes import worker_processes

if __name__ == "__main__":
    with worker_processes(2) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""

#: The argument is larger than a pipe holds, so a worker that did not read it would block the parent.
UNGUARDED = """
import os
from dais_verif.base.worker_processes import worker_processes

print("begins", flush=True)
with worker_processes(1, len, "x" * 1_000_000) as pool:
    print(pool.submit(os.path.basename, "a/b").result())
"""
UNGUARDED_CLUSTER = """
import os
from dais_verif.campaigns.regression.cluster import connect

print("begins", flush=True)
cluster, client = connect("local:1", 1)
print(client.submit(os.path.basename, "a/b").result())
client.close()
cluster.close()
"""


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_workers_end_with_their_parent(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        try:
            assert parent.stdout is not None
            worker = int(parent.stdout.readline())
            assert not gone(worker)
            parent.send_signal(number)
            parent.wait(timeout=20)
            deadline = time.monotonic() + 20
            while not gone(worker):
                assert time.monotonic() < deadline, "a worker is left"
                time.sleep(0.02)
        finally:
            parent.kill()


def test_they_begin_as_they_are_told(tmp_path: Path) -> None:
    with worker_processes(1, os.chdir, tmp_path) as pool:
        assert pool.submit(os.getcwd).result() == str(tmp_path)


@pytest.mark.parametrize("text", [UNGUARDED, UNGUARDED_CLUSTER], ids=["pool", "cluster"])
def test_a_script_that_guards_nothing_is_run_once(text: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(text)
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.stdout, ended.returncode) == ("begins\nb\n", 0), ended.stderr


def test_a_cluster_is_ended_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    class Part:
        def get_executor(self, pure: bool) -> Part:
            return self

        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *_, **__: ended.append(name)

    monkeypatch.setattr(cluster, "connect", lambda name, jobs: (Part(), Part()))
    made = cluster.Cluster("local", 1)
    made.close()
    made.close()
    assert ended == ["shutdown", "run", "close", "close"]
