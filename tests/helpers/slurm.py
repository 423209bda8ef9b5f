"""A real Slurm on one node, without systemd: its own ports, keys and folders."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from helpers.waiting import until

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
MinJobAge=60
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Munge, a controller and a node, while its context lasts.

    Args:
        folder: for their files; its path must be short, as sockets are in it.
        cpus: how many jobs run at the same time.

    Attributes:
        environment: what its commands need in the environment.
    """

    def __init__(self, folder: Path, cpus: int = 4) -> None:
        self.folder = folder
        self.host = socket.gethostname().partition(".")[0]
        self._cpus = cpus
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> "Slurm":
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(parents=True, mode=0o755)
        settings = {
            "host": self.host,
            "user": getpass.getuser(),
            "folder": self.folder,
            "controller": _free_port(),
            "daemon": _free_port(),
            "cpus": self._cpus,
        }
        (self.folder / "slurm.conf").write_text(CONF.format(**settings))
        munge = self.folder / "munge"
        key = munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        try:
            self._start(
                *("munged", "--foreground", "--force", f"--key-file={key}"),
                *(f"--socket={munge}/socket", f"--pid-file={munge}/pid"),
                *(f"--log-file={munge}/log", f"--seed-file={munge}/seed"),
            )
            until((munge / "socket").exists, "munged")
            self._start("slurmctld", "-D", "-c")
            self._start("slurmd", "-D")
            until(lambda: self.nodes() == "idle", "the node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if (self.folder / "slurmctld.pid").exists():
            self.run(
                "scancel", "--full", "--signal=KILL", f"--user={getpass.getuser()}", check=False
            )
            self.run("scancel", f"--user={getpass.getuser()}", check=False)
            end = time.monotonic() + 10
            while self.run("squeue", "--noheader", check=False) and time.monotonic() < end:
                time.sleep(0.1)
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def run(self, *command: str, check: bool = True) -> str:
        """What a command of Slurm says."""
        done = subprocess.run(
            command,
            env=os.environ | self.environment,
            check=check,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout.strip()

    def nodes(self) -> str:
        """The state of the node."""
        return self.run("sinfo", "--noheader", "--format=%T", check=False)

    def queue(self) -> dict[str, str]:
        """Job → its state."""
        said = self.run("squeue", "--noheader", "--array", "--format=%i %T", check=False)
        return dict(line.split() for line in said.splitlines())

    def _start(self, *command: str) -> None:
        program = shutil.which(command[0]) or f"/usr/sbin/{command[0]}"
        with (self.folder / f"{command[0]}.out").open("wb") as log:
            process = subprocess.Popen(
                [program, *command[1:]],
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
