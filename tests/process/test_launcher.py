"""The launcher runs jobs as processes, reports how each one ended, and leaves no process behind, even when killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from support.fake_jobs import ENTRY, MARK, marked

from dais_verif.campaigns.regression.launcher import Ending, Launcher, Request


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Return the launcher that all tests of this module share, so that anything a job leaves behind is noticed."""
    mark = str(tmp_path_factory.mktemp("mark"))
    with pytest.MonkeyPatch.context() as patch, Launcher(ENTRY) as found:
        patch.setenv(MARK, mark)
        found.run(request(Path(mark) / "first", "pass"))  # starts the fork server, which inherits the mark
        yield found
    assert others(mark) == []


@pytest.fixture
def mark(launcher: Launcher) -> str:
    return os.environ[MARK]


def others(mark: str) -> list[str]:
    """List the marked processes except pytest itself, which has the mark, too, if it was started with it."""
    return [line for line in marked(mark) if "pytest" not in line]


def request(folder: Path, text: str, timeout: float = 60) -> Request:
    folder.mkdir(exist_ok=True)
    program = folder / "program.bin"
    program.write_text(text)
    out = folder / "out"
    asked = json.dumps([{"program": str(program), "seed": 0, "output": str(out)}])
    return Request(["jobs", asked], out, Path("/"), timeout)


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("text", "code"),
    [("pass", 0), ("fail", 1), ("broken", 2), ("lie", 0), ("raise", 1), ("crash", -signal.SIGSEGV), ("leave", 0)],
)
def test_a_job_ends_as_it_says_and_leaves_nothing(
    text: str, code: int, launcher: Launcher, tmp_path: Path, mark: str
) -> None:
    ending = launcher.run(request(tmp_path, text))
    assert (ending.ended, ending.code) == ("itself", code)
    assert not [line for line in others(mark) if "sleep" in line]
    if text == "raise":
        assert "RuntimeError: a bug of ours" in (tmp_path / "out" / "stderr.txt").read_text()


def test_a_job_is_a_process_as_a_shell_starts_it(tmp_path: Path) -> None:
    """A job has a session of its own, no input, an emptied folder, and the requested environment and directory."""
    (tmp_path / "out" / "old").mkdir(parents=True)
    (tmp_path / "out" / "old" / "file").write_text("")
    words = "echo $ODD; pwd; cat; test $(cut -d' ' -f6 /proc/$PPID/stat) = $PPID && echo leader"
    with Launcher("subprocess:check_call") as shell:
        assert shell.run(Request(["sh", "-c", words], tmp_path / "out", tmp_path, 60, {"ODD": "ä b"})).code == 0
    assert (tmp_path / "out" / "stdout.txt").read_text() == f"ä b\n{tmp_path}\nleader\n"
    assert not (tmp_path / "out" / "old").exists()


def test_out_of_time(launcher: Launcher, tmp_path: Path, mark: str) -> None:
    ending = launcher.run(request(tmp_path, "hang", timeout=0.5))
    assert (ending.ended, ending.code) == ("late", None) and ending.seconds >= 0.5
    assert not [line for line in others(mark) if "sleep" in line]


def test_stopped_when_nobody_wants_it(launcher: Launcher, tmp_path: Path, mark: str) -> None:
    ending = launcher.run(request(tmp_path, "hang"), lambda: bool([x for x in others(mark) if "sleep" in x]))
    assert ending.ended == "stopped"
    assert not [line for line in others(mark) if "sleep" in line]


def test_many_at_once(launcher: Launcher, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = ["pass", "fail", "crash"] * 8
        asked = [request(tmp_path / str(i), text) for i, text in enumerate(texts)]
        codes = [ending.code for ending in pool.map(launcher.run, asked)]
    assert codes == [0, 1, -signal.SIGSEGV] * 8


def test_the_same_folder_is_one_job_s_at_a_time(launcher: Launcher, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        asked = request(tmp_path, "slow 0.5")
        endings = list(pool.map(launcher.run, [asked, asked]))
    assert [ending.code for ending in endings] == [0, 0]


class TestNothingIsLeft:
    @pytest.fixture
    def mark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setenv(MARK, str(tmp_path))
        return str(tmp_path)

    @pytest.fixture
    def hanging(self, tmp_path: Path, mark: str) -> Iterator[tuple[Launcher, list[Ending], Path]]:
        """Yield a launcher, its endings and the folder of a hanging job with a process in another session."""
        launcher, endings = Launcher(ENTRY), list[Ending]()
        asked = request(tmp_path, "hang")
        thread = threading.Thread(target=lambda: endings.append(launcher.run(asked)))
        thread.start()
        wait_until(lambda: any("sleep" in line for line in others(mark)))
        yield launcher, endings, tmp_path
        launcher.close()
        thread.join()

    def test_when_it_is_closed(self, hanging: tuple[Launcher, list[Ending], Path], mark: str) -> None:
        launcher, endings, _ = hanging
        launcher.close()
        assert others(mark) == []
        wait_until(lambda: [ending.ended for ending in endings] == ["stopped"])

    @pytest.mark.parametrize("depth", [0, 1], ids=["fork server", "reaper"])
    def test_when_a_process_between_is_killed(
        self, depth: int, hanging: tuple[Launcher, list[Ending], Path], mark: str
    ) -> None:
        """If the fork server or the reaper is killed, the job is reported as lost, and the next job runs."""
        launcher, endings, folder = hanging
        (server,) = [child for child in psutil.Process().children() if child.environ().get(MARK) == mark]
        chain = [server, *server.children()]
        chain[depth].kill()
        wait_until(lambda: [ending.ended for ending in endings] == ["lost"])
        wait_until(lambda: not any("sleep" in line for line in others(mark)))
        assert launcher.run(request(folder / "next", "pass")).code == 0

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_when_whoever_asked_is_killed(self, number: int, tmp_path: Path, mark: str) -> None:
        asked = request(tmp_path, "hang")
        code = (
            "from pathlib import Path\nfrom dais_verif.campaigns.regression.launcher import Launcher, Request\n"
            f"Launcher({ENTRY!r}).run(Request({asked.arguments!r}, Path({str(asked.folder)!r}), Path('/'), 60))"
        )
        path = os.pathsep.join(sys.path)
        process = subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, start_new_session=True
        )
        wait_until(lambda: any("sleep" in line for line in others(mark)))
        os.killpg(process.pid, number)
        process.wait()
        wait_until(lambda: others(mark) == [])
