"""Runs units in worker processes that may crash or hang, and keeps what came of each case in a file."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from ..worker_process import Died, TookTooLong, WorkerProcess
from .samples import Unit
from .worker import serve

__all__ = ["key", "merged", "read", "run"]

SAMPLES = "(samples)"
"""The case of a record that says that the samples of an operator could not be made."""
_MEMORY = 12 << 30  # bytes of data of a worker
_CASES_OF_A_WORKER = 400  # what importing leaves behind adds up


def key(record: dict[str, Any]) -> tuple[str, str, str]:
    """What names a record: operator, dtype, case."""
    return record["op"], record["dtype"], record["case"]


def read(path: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Read a file of records; of several for one case the last counts."""
    if not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {key(record): record for record in records}


def merged(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read several files of records.

    Args:
        paths: of several records for one case the last counts, of the last file that has any; but that a case is only
            imported says nothing against that it was compiled.
    """
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            if line.strip():
                record = json.loads(line)
                known = found.get(key(record))
                compiled = known is not None and known["status"] in ("native", "callback")
                if not (compiled and record["status"] == "imported"):
                    found[key(record)] = record
    measured = {(op, dtype) for op, dtype, case in found if case != SAMPLES}
    return [r for (op, dtype, case), r in found.items() if case != SAMPLES or (op, dtype) not in measured]


class _Worker:
    """A worker process and its conversation."""

    def __init__(self, interpreted: bool, timeout_s: float) -> None:
        self._interpreted, self._timeout_s = interpreted, timeout_s
        self._process: WorkerProcess | None = None
        self._served = 0

    def close(self) -> None:
        """End the process and the tools that it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def _started(self) -> WorkerProcess:
        if self._process is None:
            self._served = 0
            self._process = WorkerProcess(serve, _MEMORY)
        self._process.wait_until_ready()
        return self._process

    def run(self, unit: Unit, done: set[str]) -> Iterator[dict[str, Any]]:
        """Yield a record for each case of a unit that is not done."""
        done = set(done)
        while True:
            process, current, start = self._started(), "", time.perf_counter()
            process.ask({**asdict(unit), "done": sorted(done), "interpreted": self._interpreted}, self._timeout_s)
            try:
                while (answer := process.answer()) is not None:
                    process.deadline = time.monotonic() + self._timeout_s
                    event, content = answer
                    if event == "begin":
                        current, start = content["case"], time.perf_counter()
                    elif event == "result":
                        done.add(current)
                        current = ""
                        self._served += 1
                        yield content
                    else:
                        yield self._failed(unit, SAMPLES, "raises", content["error"], start)
            except Died as error:
                failure = ("crashed", f"the process ended with {error}")
            except TookTooLong:
                failure = ("timeout", f"no answer within {self._timeout_s:g} s")
            else:
                if self._served >= _CASES_OF_A_WORKER:
                    self.close()
                return
            self.close()
            yield self._failed(unit, current or SAMPLES, *failure, start)
            if not current:
                return
            done.add(current)

    def _failed(self, unit: Unit, case: str, status: str, message: str, start: float) -> dict[str, Any]:
        return {
            "op": unit.op,
            "dtype": unit.dtype,
            "case": case,
            "interpreted": self._interpreted,
            "status": status,
            "message": message,
            "seconds": round(time.perf_counter() - start, 3),
        }


def run(
    units: Iterable[Unit],
    path: Path | None = None,
    *,
    interpreted: bool = False,
    jobs: int = 1,
    timeout_s: float = 120.0,
    retry: Iterable[str] = (),
) -> Iterator[dict[str, Any]]:
    """Run units.

    Args:
        units: operators with dtypes.
        path: file of records, which is appended to; cases that it has are left out.
        interpreted: import programs and run them in the interpreter, without compiling them.
        jobs: number of worker processes.
        timeout_s: wall-clock limit of a case in seconds.
        retry: statuses of cases that are run again.
    Yields:
        The new records, in the order in which they come.
    """
    again = set(retry)
    known = {key: record for key, record in (read(path) if path else {}).items() if record["status"] not in again}
    pending: SimpleQueue[Unit] = SimpleQueue()
    for unit in units:
        pending.put(unit)
    found: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        worker = _Worker(interpreted, timeout_s)
        try:
            while not stopped.is_set():
                unit = pending.get_nowait()
                done = {case for op, dtype, case in known if (op, dtype) == (unit.op, unit.dtype)}
                for record in worker.run(unit, done):
                    if key(record) not in known:
                        found.put(record)
        except Empty:
            pass
        finally:
            worker.close()
            found.put(None)

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work) for _ in range(jobs)]
        try:
            for _ in range(jobs):
                while (record := found.get()) is not None:
                    if path is not None:
                        with path.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(record) + "\n")
                    yield record
        finally:
            stopped.set()
        for future in futures:
            future.result()
