"""What users see while simulators run, on a terminal and without one."""

from __future__ import annotations

import io
import re
import threading
import time

import pytest
from rich.console import Console
from rich.progress import TaskID

from dais_verif.report.live import Display


def shown(*, terminal: bool) -> tuple[Display, io.StringIO]:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, color_system=None)
    return Display(console), text


def plain(text: io.StringIO) -> str:
    """Return the text without the sequences that move the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.getvalue())


def work(display: Display) -> None:
    """Report the progress of a run."""
    with display:
        display.notice("simulating 10 vectors in icarus and verilator")
        for stage in ("plan", "icarus compile", "verilator verilate", "golden", "verilator compile"):
            display.stage(stage)
        display.vectors("icarus", 0, 10)
        for stage in ("icarus run", "verilator run", "icarus compare"):
            display.stage(stage)
        display.vectors("icarus", 7, 10)
        display.vectors("verilator", 10, 10)
        display._progress.refresh()
        display.notice("icarus: [built] in 0.1 s")


def test_without_a_terminal_it_is_a_line_a_step() -> None:
    display, text = shown(terminal=False)
    work(display)
    assert text.getvalue() == "simulating 10 vectors in icarus and verilator\nicarus: [built] in 0.1 s\n"


def test_on_a_terminal_each_simulator_has_a_line() -> None:
    display, text = shown(terminal=True)
    work(display)
    lines = plain(text)
    assert re.search(r"icarus run .* 7/10 +vectors", lines)
    assert re.search(r"verilator run .* 10/10 +vectors", lines)
    assert "simulating 10 vectors in icarus and verilator\n" in lines
    assert "icarus: [built] in 0.1 s\n" in lines
    assert not re.search(r"plan|golden|compare", lines)


def test_on_a_terminal_the_lines_go_away() -> None:
    """The last text written moves the cursor up over the progress lines and erases each of them."""
    display, text = shown(terminal=True)
    work(display)
    assert text.getvalue().count("\x1b[?25l") == text.getvalue().count("\x1b[?25h") == 1
    after = text.getvalue().rpartition("vectors")[2]
    assert after.count("\x1b[2K") >= 2 and plain(io.StringIO(after)).split() in ([], ["0:00:00"])


@pytest.mark.parametrize("stage", ["icarus compile", "icarus verilate", "icarus run"])
def test_a_stage_is_the_description_of_its_simulator(stage: str) -> None:
    display, _ = shown(terminal=True)
    display.stage(stage)
    assert [task.description for task in display._progress.tasks] == [stage]


def test_stages_of_no_simulator_have_no_line() -> None:
    display, _ = shown(terminal=True)
    for stage in ("plan", "set-up", "golden", "icarus compare", "read"):
        display.stage(stage)
    assert display._progress.tasks == []


def test_simulators_in_threads_have_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    display, _ = shown(terminal=True)
    add_task = display._progress.add_task

    def slowly(name: str, total: float | None) -> TaskID:
        time.sleep(0.02)
        return add_task(name, total=total)

    monkeypatch.setattr(display._progress, "add_task", slowly)
    steps = [f"{name} {step}" for name in ("icarus", "verilator") for step in ("compile", "run")]
    threads = [threading.Thread(target=display.stage, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(task.description.split()[0] for task in display._progress.tasks) == ["icarus", "verilator"]


def test_it_ends_with_an_error() -> None:
    display, text = shown(terminal=True)
    with pytest.raises(KeyboardInterrupt), display:
        raise KeyboardInterrupt
    assert "\x1b[?25h" in text.getvalue(), "the cursor is shown again"
    assert not display._progress.live.is_started
