"""Ranks as processes of this machine, a few at the same time.

Each is `python -m hdbench.running.cluster.workers RUN LAUNCH RANK`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from datatrove.io import get_datafolder
from datatrove.utils.logging import add_task_logger, close_task_logger

from hdbench.common import processes
from hdbench.common.translation import VARIABLE, current_language, set_language, translated
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.running.cluster.step import Asking, launch_is_over, on_sigterm, release_locks
from hdbench.running.engine_kinds import RanksEnd
from hdbench.running.run_progress import RunProgress
from hdbench.running.shards.launch import Shards
from hdbench.running.shards.merging import merge_if_last

if TYPE_CHECKING:
    from hdbench.running.planning import RunPlan

POLL = 0.2
SAY = 2.0
"""Seconds between two looks at how the ranks are going."""
STARTS = 3
"""A rank is started this often if its process is killed."""
GRACE = 30.0
"""Seconds that ranks have to stop."""


class RankProcesses:
    """Processes that run the ranks of a launch; each rank that is killed is started again.

    They are in sessions of their own: if this process is killed, they finish their rank.

    Args:
        shards: the launch.
        at_once: how many ranks run at the same time.
        devices: the accelerators among which they are divided; none leaves it to them.

    Attributes:
        failure: why ranks failed; None as long as none has.
        interrupted: whether a person stopped them.
    """

    def __init__(self, shards: Shards, at_once: int, devices: Sequence[str]) -> None:
        self._shards = shards
        self._devices = devices
        self._free = list(reversed(range(at_once)))
        self._waiting = list(reversed(shards.ranks))
        self._running: dict[int, tuple[subprocess.Popen[bytes], int, IO[bytes]]] = {}
        self._starts: dict[int, int] = {}
        self.failure: Message | None = None
        self.interrupted = False

    def run(self, progress: RunProgress) -> None:
        """Run all ranks; after a failure, those that already run."""
        due = 0.0
        try:
            with on_sigterm(signal.default_int_handler):
                while self._running or (self._waiting and self.failure is None):
                    while self._free and self._waiting and self.failure is None:
                        self._start(self._waiting.pop())
                    time.sleep(POLL)
                    self._look(progress)
                    if time.monotonic() > due:
                        due = time.monotonic() + SAY
                        progress.at_ranks(self._shards)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self._stop()
            progress.at_ranks(self._shards)

    def _start(self, rank: int) -> None:
        slot = self._free.pop()
        environment = os.environ | {VARIABLE: current_language()}
        if self._devices:
            environment["CUDA_VISIBLE_DEVICES"] = self._devices[slot % len(self._devices)]
        output = tempfile.TemporaryFile()  # noqa: SIM115  not in the run's folder, where it may be full
        # Without -P, the folder that the user is in could hold a module that is imported.
        module = [sys.executable, "-P", "-m", "hdbench.running.cluster.workers"]
        arguments = [str(self._shards.run.absolute()), self._shards.launch.id, str(rank)]
        process = subprocess.Popen(  # noqa: S603
            [*module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
        self._running[rank] = (process, slot, output)
        self._starts[rank] = self._starts.get(rank, 0) + 1

    def _look(self, progress: RunProgress) -> None:
        for rank, (process, slot, output) in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[rank]
            self._free.append(slot)
            if status < 0:
                name = signal.Signals(-status).name
                if self._starts[rank] < STARTS:
                    progress.notice(
                        Message(
                            "rank {rank} was killed ({signal}): starting it again",
                            rank=rank,
                            signal=name,
                        )
                    )
                    self._waiting.append(rank)
                else:
                    self._failed(
                        Message(
                            "rank {rank} was killed {count} times ({signal}): is there enough "
                            "memory?",
                            rank=rank,
                            count=STARTS,
                            signal=name,
                        )
                    )
            elif status:
                self._failed(self._reason(rank, output, status))
            output.close()

    def _failed(self, reason: Message) -> None:
        self.failure = self.failure or reason

    def _reason(self, rank: int, output: IO[bytes], status: int) -> Message:
        """Return why a rank failed: by its output first, as its state may not have been written."""
        if status == 128 + signal.SIGTERM:  # which is how it ends on it
            return Message("rank {rank} was stopped (SIGTERM)", rank=rank)
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
        words = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        state = self._shards.said(rank)
        if words:
            return Message(words[-1])
        if state is not None and state.error:
            return Message(state.error)
        return Message(
            "rank {rank} ended with status {status}: {why}",
            rank=rank,
            status=status,
            why=lines[-1] if lines else Message("it says nothing"),
        )

    def _stop(self) -> None:
        for process, _, _ in self._running.values():
            process.terminate()
        end = time.monotonic() + GRACE
        for process, _, output in self._running.values():
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            output.close()
        self._running.clear()


def check_processes(_: "RunPlan", options: Mapping[str, str], __: Path) -> None:
    """Refuse options: processes of this machine have none.

    Raises:
        HdbenchError: there are some.
    """
    if options:
        raise HdbenchError(
            "--engine-option {option}: the engine local has no options", option=next(iter(options))
        )


def run_processes(shards: Shards, _: Mapping[str, str], workers: int | None) -> RanksEnd:
    """Run the ranks of a launch on this machine, as many at the same time as there are workers."""
    launch = shards.launch
    devices = accelerators() if launch.asked.kind.loads_model else ()
    processes = RankProcesses(shards, workers or 1, devices)
    with RunProgress.shown(launch.total, launch.recorded) as progress:
        processes.run(progress)
    return RanksEnd(processes.failure, processes.interrupted)


def accelerators() -> Sequence[str]:
    """Return the accelerators of this machine, as CUDA_VISIBLE_DEVICES names them."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [device.strip() for device in chosen.split(",") if device.strip()]
    try:
        done = processes.run(["nvidia-smi", "-L"])
    except (OSError, processes.CalledProcessError):
        return []
    return [str(number) for number, _ in enumerate(done.stdout.splitlines())]


def main(run: Path, launch: str, rank: int) -> None:
    """Run a rank, and merge the shards if it is the last one and its driver is gone.

    datatrove's LocalPipelineExecutor is not used: it starts a process for its queue, which would
    stay forever if this one is killed.

    Raises:
        HdbenchError: see `Asking.run`.
        OSError: there is no space left.
    """
    shards = Shards.of(run)
    if shards is None or shards.launch.id != launch:
        raise launch_is_over(run, launch)
    log = add_task_logger(get_datafolder(str(shards.logs.absolute())), rank)
    try:
        Asking(run, launch).run(None, rank, shards.launch.tasks)
    finally:
        close_task_logger(log)
    release_locks()
    merge_if_last(shards)


if __name__ == "__main__":
    set_language(os.environ.get(VARIABLE))  # the same as the command that started it
    try:
        main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    except HdbenchError as error:
        sys.exit(f"error: {escaped(translated(error.message, current_language()))}")
    except OSError as error:
        sys.exit(f"error: {escaped(str(error))}")
