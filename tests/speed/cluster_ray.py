"""A run on Ray: PYTHONPATH=src:tests python -m speed.cluster_ray, in an environment with Ray.

It fails if an item has no answer or two, or was asked again.
"""

import tempfile
from pathlib import Path

from running.many_texts import Counting, Run, write_texts

ITEMS, TASKS = 200, 4


def main() -> None:
    """Run it."""
    with tempfile.TemporaryDirectory(prefix="ray-") as folder, Counting(0.05) as server:
        write_texts(Path(folder), ITEMS)
        run = Run(Path(folder), server.url)
        options = ("--engine-option", "mem_per_cpu_gb=1")
        done = run.run("--engine", "ray", "--tasks", TASKS, "--workers", 2, *options)
        print(done.stdout, done.stderr)
        assert done.returncode == 0
        run.check_whole(ITEMS)
        assert server.again == []


if __name__ == "__main__":
    main()
