"""Run jobs on workers of Dask: on this machine, at a running scheduler, or in the queue of a compute cluster.

Dask schedules the jobs: a job whose worker is lost runs again on another one. Workers must see the same files at the
same paths; a job writes into its folder, and only returns a short result.

Code that can talk to a scheduler or worker runs code as its user. Clusters that are started here therefore use TLS in
both directions, with a key that is made for each run and is known only to its processes; other schedulers must use TLS,
too, unless the user says that everybody who reaches them may run code.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

import msgspec

from dais_verif.base.errors import ClusterError, ClusterFailure, InputError
from dais_verif.base.files import write_atomically
from dais_verif.base.structs import decoded
from dais_verif.base.version import VERSION
from dais_verif.base.worker_processes import without_main
from dais_verif.campaigns.regression.executors import ENTRY, PRELOAD
from dais_verif.campaigns.regression.job import Task, run_job, run_jointly
from dais_verif.campaigns.regression.launcher import Launcher
from dais_verif.record.base import to_tree
from dais_verif.record.campaigns import JobResult

__all__ = ["Cluster", "check_name", "connect"]

_NAME = re.compile(r"(local|slurm|lsf)(?::([1-9]\d{0,4}))?|(?:insecure:)?(?:tcp|tls|ucx|ws|wss)://\S+", re.ASCII)
_INSTALL = "pip install 'dais-verif[cluster]'"
#: The flag before an address without encryption, and so without a check of who connects.
_INSECURE, _SAFE = "insecure:", ("tls://", "wss://")
_TLS = "tls://"
#: Seconds for a worker to join a running scheduler, and for processes to end.
_JOIN_SECONDS, _END_SECONDS = 60, 30
_CONNECT_SECONDS, _ASK_SECONDS = 10, 2.0

#: For workers that share this terminal: they ignore Ctrl-C, which this process handles, and end without messages.
_QUIET = (
    "import logging, signal\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "logging.getLogger('distributed').setLevel(logging.CRITICAL)\n"
)

#: The file with the result of a job, in its folder.
KEPT = ".result-of-worker.json"

#: Paths and hashes of the inputs of a job.
Digests: TypeAlias = Sequence[tuple[str, str]]

#: In a worker process: the launchers of its jobs, and the number of running jobs.
_lock = threading.Lock()
_launchers: dict[tuple[str, ...], Launcher] = {}
_busy: set[str] = set()


def check_name(name: str) -> None:
    """Raise ``InputError`` if ``name`` is not the name of a cluster, or an open one without the flag ``insecure:``."""
    if "://" in name and not name.startswith((_INSECURE, *_SAFE)) and _NAME.fullmatch(name):
        raise ClusterError.of(
            "{cluster} {name}: anyone who reaches this scheduler can run code as you; give it TLS and use tls://, or "
            "name it as insecure:{name} if only you reach it",
            name=name,
        )
    if not _NAME.fullmatch(name):
        raise ClusterError.of(
            "{cluster} {name}: must be local, slurm or lsf, each with :N for the number of workers, or the address "
            "of a "
            "Dask scheduler, tls://host:port",
            name=name,
        )


class Cluster:
    """The cluster ``name``, with ``jobs`` workers if it is started here."""

    def __init__(self, name: str, jobs: int, entry: str = ENTRY, preload: tuple[str, ...] = PRELOAD) -> None:
        self._words = (entry, *preload)
        self._cluster, self._client = connect(name, jobs)
        self._executor = self._client.get_executor(pure=False)
        self._closed = False
        self._workers, self._asked = 0, -_ASK_SECONDS

    def workers(self) -> int:
        """Return how many jobs could run at once when the scheduler was last asked."""
        if time.monotonic() - self._asked > _ASK_SECONDS:
            with contextlib.suppress(Exception):  # the scheduler may be busy or lost, which jobs will report
                self._workers = sum(self._client.nthreads().values())
            self._asked = time.monotonic()
        return self._workers

    def submit(self, task: Task) -> Future[JobResult]:
        """Run ``task`` on some worker."""
        future: Future[JobResult] = self._executor.submit(_run, task, task.digests(), self._words, VERSION)
        return future

    def submit_jointly(self, tasks: Sequence[Task]) -> Future[list[JobResult | None]]:
        """Run ``tasks`` as one job on some worker."""
        future: Future[list[JobResult | None]] = self._executor.submit(
            _run_jointly, tasks, [task.digests() for task in tasks], self._words, VERSION
        )
        return future

    def doubts(self, ended: Future[JobResult]) -> bool:
        """Return True if Dask gave up the job: it blames all jobs of a lost worker, also those that only waited."""
        error = None if ended.cancelled() else ended.exception()
        return isinstance(error, importlib.import_module("distributed").KilledWorker)

    def running(self) -> list[str]:
        """Return an empty list: polling each worker would be too expensive."""
        return []

    def close(self) -> None:
        """End all tasks, and the parts of the cluster that were started here."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(Exception):  # a lost cluster has nothing left to end
            self._executor.shutdown(wait=False)
            self._client.run(_until_idle)
        for each in (self._client, self._cluster):
            with contextlib.suppress(Exception):
                if each is not None:
                    each.close()


def connect(name: str, jobs: int) -> tuple[Any, Any]:
    """Return the cluster, if it is started here, and a client of it. Raises ``ToolError`` with advice."""
    check_name(name)
    try:
        dask = importlib.import_module("dask")
        # Its log lines would disturb the table.
        dask.config.set({"logging.distributed": "critical"})
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise ClusterFailure.of(
            "{cluster} needs dask.distributed, which is not installed: {install}", install=_INSTALL
        ) from None
    kind, _, number = name.partition(":")
    if "://" in name:
        try:
            client = distributed.Client(name.removeprefix(_INSECURE), timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise ClusterFailure.of(
                "{cluster} {name}: no scheduler answers there ({error})", name=name, error=error
            ) from None
        except TypeError as error:  # from Dask, for what its configuration lacks
            raise ClusterFailure.of(
                "{cluster} {name}: Dask cannot connect ({error}); tls:// needs your certificate and key in its "
                "configuration, under distributed.comm.tls",
                name=name,
                error=error,
            ) from None
        try:
            client.wait_for_workers(1, timeout=_JOIN_SECONDS)
        except TimeoutError:
            client.close()
            raise ClusterFailure.of(
                "{cluster} {name}: the scheduler has no worker; start one with `dask worker`", name=name
            ) from None
        return None, client
    workers = int(number) if number else jobs
    if kind == "local":
        try:
            with without_main():
                cluster: Any = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    memory_limit=0,
                    preload=[_QUIET],
                    protocol=_TLS,
                    security=_own_security(),
                )
        except (OSError, RuntimeError) as error:  # a worker was ended as it started, as by a lack of memory
            raise ClusterFailure.of(
                "{cluster} {name}: Dask could not start the workers ({error}); name fewer, such as {kind}:1",
                name=name,
                error=error,
                kind=kind,
            ) from None
    else:
        cluster = _queue(kind, _own_security())
        cluster.adapt(minimum_jobs=1, maximum_jobs=workers)  # not scale(): lost workers are requested again
    if not str(cluster.scheduler_address).startswith(_TLS):
        cluster.close()
        raise ClusterFailure.of("{cluster} {name}: Dask started it without TLS, so it was ended", name=name)
    return cluster, distributed.Client(cluster, security=cluster.security)


def _own_security() -> Any:
    """Return the certificate and key of this run, which are in memory only, for both sides of all connections."""
    security = importlib.import_module("distributed.security")
    return security.Security.temporary()


def _queue(kind: str, security: Any) -> Any:
    """Start the scheduler of a queue. Its jobs get ``security`` in files that only their user can read."""
    try:
        dask_jobqueue = importlib.import_module("dask_jobqueue")
    except ImportError:
        raise ClusterFailure.of(
            "{cluster} {kind} needs dask-jobqueue, which is not installed: {install}", kind=kind, install=_INSTALL
        ) from None
    make = {"slurm": "SLURMCluster", "lsf": "LSFCluster"}[kind]
    try:
        return getattr(dask_jobqueue, make)(security=security, protocol=_TLS)
    except (OSError, ValueError, TypeError) as error:
        problem = " ".join(str(error).split())
        raise ClusterFailure.of(
            "{cluster} {kind}: {problem}; configure the jobs of the queue in ~/.config/dask/jobqueue.yaml",
            kind=kind,
            problem=problem,
        ) from None


def _run(task: Task, digests: Digests, words: tuple[str, ...], version: str) -> JobResult:
    with _working(words, version) as (launcher, key, address, given_up), _Kept(task, key) as kept:
        if kept.results is None:
            _require_same(task, digests, address)
            kept.results = [run_job(task, launcher, address, given_up)]
        (result,) = kept.results
        assert result is not None
        return result


def _run_jointly(
    tasks: Sequence[Task], digests: Sequence[Digests], words: tuple[str, ...], version: str
) -> list[JobResult | None]:
    with _working(words, version) as (launcher, key, address, given_up), _Kept(tasks[0], key) as kept:
        if kept.results is None:
            for task, expected in zip(tasks, digests, strict=True):
                _require_same(task, expected, address)
            kept.results = run_jointly(tasks, launcher, address, given_up)
        return kept.results


class _Kept(contextlib.AbstractContextManager["_Kept"]):
    """On a worker: the ``results`` of the Dask task ``key``, kept in the folder of its first job; None before its end.

    Dask runs a task again if its worker is lost after the end of the task; by then, the client may have the results,
    and use the files that another run would remove.
    """

    class _File(msgspec.Struct):
        key: str
        results: list[JobResult | None]

    def __init__(self, task: Task, key: str) -> None:
        self._path, self._key = task.home / task.folder / KEPT, key
        self.results: list[JobResult | None] | None = None
        with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            file = decoded(self._path.read_bytes(), self._File)
            self.results = file.results if file.key == key else None

    def __exit__(self, *_: object) -> None:
        if self.results is not None and self._path.parent.is_dir():
            tree = {"key": self._key, "results": [None if one is None else to_tree(one) for one in self.results]}
            with contextlib.suppress(InputError):  # such as a full disk: the result is valid without it
                write_atomically(self._path, json.dumps(tree).encode())


@contextlib.contextmanager
def _working(words: tuple[str, ...], version: str) -> Iterator[tuple[Launcher, str, str, Callable[[], bool]]]:
    """On a worker: yield the launcher, the task's key, the worker's address, and whether the task is withdrawn."""
    if version != VERSION:
        raise ClusterFailure(f"the worker has dais-verif {VERSION}, the client {version}: install the same version")
    worker = importlib.import_module("distributed").get_worker()
    key = worker.get_current_task()
    with _lock:
        launcher = _launchers.setdefault(words, Launcher(words[0], words[1:]))
        _busy.add(key)
    try:
        yield launcher, key, worker.address, _given_up(worker, key)
    finally:
        with _lock:
            _busy.discard(key)


def _require_same(task: Task, expected: Digests, address: str) -> None:
    """On a worker: raise ``ToolError`` if an input of ``task`` differs from that of the client, is missing, or new."""
    there, here = dict(expected), dict(task.digests())
    different = sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))
    if different:
        raise ClusterFailure(
            f"{different[0]!r} is not the same file on the worker {address} as on the client, in folder"
            f" {str(task.cwd)!r}: the job was not run; workers must share the file system"
        )


def _given_up(worker: Any, key: str) -> Callable[[], bool]:
    def given_up() -> bool:
        state = worker.state.tasks.get(key)
        return state is None or state.state == "cancelled"

    return given_up


async def _until_idle() -> None:
    """On a worker: wait until no job runs."""
    for _ in range(_END_SECONDS * 20):
        if not _busy:
            return
        await asyncio.sleep(0.05)
