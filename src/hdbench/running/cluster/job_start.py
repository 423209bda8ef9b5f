"""The beginning of a job at Hugging Face, where hdbench is not installed yet, but all it needs is.

uv runs this file. It fetches hdbench's wheel from the storage, and asks the questions of some
ranks.
"""

import argparse
import random
import sys
import tempfile
import time
import zipfile

import fsspec


def main() -> None:
    """Ask what the command line says."""
    parser = argparse.ArgumentParser()
    for name in ("--storage", "--launch", "--wheel"):
        parser.add_argument(name)
    for name in ("--first", "--end", "--most-wait"):
        parser.add_argument(name, type=int)
    arguments = parser.parse_args()
    time.sleep(random.uniform(0, arguments.most_wait))  # noqa: S311  no secret
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        files, path = fsspec.url_to_fs(arguments.wheel)
        files.get_file(path, f"{folder}/wheel")
        with zipfile.ZipFile(f"{folder}/wheel") as wheel:
            wheel.extractall(folder)
        sys.path.insert(0, folder)
        from hdbench.running.cluster.step import ask_there  # noqa: PLC0415  here only now

        for rank in range(arguments.first, arguments.end):
            ask_there(arguments.storage, arguments.launch, rank)


if __name__ == "__main__":
    main()
