"""PDFs, which crash the process where two threads draw them at once."""

import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "dataset_scripts/sciencemetabench/sample/pdf"

IN_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from hdbench.common.pictures import thumbnail
from hdbench.models.backend import ImageLimits
from hdbench.models.images import load_images

files = sorted(Path(sys.argv[1]).glob("*.pdf")) * 30
limits = ImageLimits(max_side=900)

def draw(path):
    return thumbnail(path, width=100), load_images([path], limits)

with ThreadPoolExecutor(8) as pool:
    drawn = list(pool.map(draw, files))
one_by_one = {path: draw(path) for path in set(files)}
assert all(each == one_by_one[path] for path, each in zip(files, drawn, strict=True))
print(len(drawn))
"""


def test_many_threads_draw_pages_as_one_does():
    done = subprocess.run(
        [sys.executable, "-c", IN_THREADS, str(SAMPLE)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 30 * len(list(SAMPLE.glob("*.pdf"))) > 30
