import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from helpers import needs
from helpers.forks import Forks
from helpers.plain import PLAIN
from helpers.run_folders import write_cards
from hypothesis import settings
from playwright.sync_api import expect, sync_playwright

from hdbench.common.texts import set_language

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"

# No assertion here is on time. Each run tries others, so that few in each are many in the end.
settings.register_profile("untimed", deadline=None, max_examples=40)
settings.load_profile("untimed")

# What a script starts in the background ignores Ctrl+C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test may reach the network, and none may read or fill a person's own caches.
os.environ["HF_HUB_OFFLINE"] = "1"
CACHE = tempfile.TemporaryDirectory(prefix="hdbench-tests-", ignore_cleanup_errors=True)
os.environ["HF_HOME"] = CACHE.name
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "True"  # so does Gradio in who makes an app
os.environ["HDBENCH_CACHE"] = f"{CACHE.name}/hdbench"
os.environ["XDG_STATE_HOME"] = f"{CACHE.name}/state"
os.environ["USE_TORCH"] = "0"  # else `datasets` imports torch, which takes seconds

NO_COMPLAINT = (
    "Method not implemented.",  # what Gradio's own script warns of after each upload
    # The server ended before the page that still listened to it, or asked it something.
    "Failed to load resource: net::ERR_INCOMPLETE_CHUNKED_ENCODING",
    "Failed to load resource: net::ERR_CONTENT_LENGTH_MISMATCH",
    "Failed to load resource: net::ERR_CONNECTION_REFUSED",
    "Failed to load resource: net::ERR_SOCKET_NOT_CONNECTED",
    "Failed to load resource: net::ERR_CONNECTION_RESET",
)

TIERS = ("not slow and not nightly", "slow and not nightly", "nightly")
"""Expressions for markers: README's tests, what `.ci/run` runs besides, and `.ci/nightly`."""

PATIENCE = 120_000
"""How many milliseconds a page is waited for: tests beside others may have a tenth of a core."""

CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    # The address bar's suggestions are pages, which each window loads: half of what it costs. Of
    # several such lists Chromium takes the last, so that Playwright's own is repeated first.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,"
    "ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,"
    "NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)

IMPORTED = """
httpx2 hdbench.cli hdbench.integrations.compare
hdbench.benchmarks.building.builder
hdbench.evaluation.verify hdbench.report.leaderboard.formats
hdbench.report.folder
hdbench.report.plots hdbench.report.workbook
hdbench.models.run
hdbench.cli.score hdbench.cli.compare hdbench.cli.leaderboard hdbench.cli.report hdbench.cli.run
json_repair xlsxwriter
"""


def pytest_ignore_collect(collection_path, config):
    """Modules without a test of this run are not imported: some of them import torch."""
    if collection_path.suffix != ".py":
        return None
    text = collection_path.read_text()
    no_tests = not collection_path.name.startswith("test_") and ">>>" not in text
    tier = re.search(r"^pytestmark = pytest\.mark\.(slow|nightly)$", text, re.MULTILINE)
    asked_for = config.option.markexpr
    wanted = f"pytest.mark.{asked_for.partition(' ')[0]}"  # none for README's tests
    another_tier = tier is not None and asked_for in TIERS and wanted not in text
    return no_tests or another_tier or None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What the tests import stays: the garbage collector looks at it neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before any fixture is made
def pytest_runtest_setup(item):
    needs.check(item)


@pytest.fixture(autouse=True)
def _as_before_a_command():
    """The next test is told everything in English again, and scripts import what is beside them:
    both are set for the process by a command that is called in it."""
    yield
    set_language("en")
    os.environ.pop("PYTHONSAFEPATH", None)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The real data beside the checkout; a test of them skips only where they are absent."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def forks():
    """Forks of a process that imported what commands need, in an install without the extra vlm."""
    forks = Forks(*IMPORTED.split(), "datasets", "evaluate", **PLAIN)
    yield forks
    forks.close()


@pytest.fixture(scope="session")
def bare_forks():
    """Forks that can have other settings of the Hub's libraries, as these are not imported."""
    forks = Forks(*IMPORTED.split())
    yield forks
    forks.close()


@pytest.fixture(scope="session")
def run_hdbench(request):
    """Run the command line as a person would, in some folder: in a fork, or in a new process."""

    def run(*arguments, cwd, new=False, **environment):
        command = ["-m", "hdbench", *map(str, arguments)]
        env = os.environ | {"COLUMNS": "100"} | environment
        if not new:
            has_own_hub = any(name.startswith("HF_") for name in environment)
            forks = request.getfixturevalue("bare_forks" if has_own_hub else "forks")
            return forks.run(*command, cwd=cwd, env=env)
        return subprocess.run(
            [sys.executable, *command],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, as a person has it."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM
        )
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield browser
        browser.close()


@pytest.fixture
def visit_at(browser):
    """Open a page; what it complains of, or asks of another host, fails the test.

    What is `awaited` is seen when it returns.
    """
    contexts, complaints, requests, own = [], [], [], ["data:"]
    expected = list(NO_COMPLAINT)

    def visit_at(
        url, *, awaited, width=1280, height=900, language="en-GB", complains=(), **options
    ):
        expected.extend(complains)
        own.append(url.partition("?")[0])
        context = browser.new_context(
            viewport={"width": width, "height": height}, locale=language, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        page.locator(awaited).wait_for()
        return page

    yield visit_at
    for context in contexts:
        context.close()
    assert [each for each in complaints if each not in expected] == []
    assert [each for each in requests if not each.startswith(tuple(own))] == []


@pytest.fixture(scope="session")
def built_once(tmp_path_factory, run_hdbench):
    """A copy of a working directory that one worker of pytest-xdist builds for all of them.

    What the builds said is in `said.txt` there.
    """
    common = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent

    def built_once(name, *builds):
        built = common / f"{name}-built"
        with FileLock(f"{built}.lock"):
            if not built.is_dir():
                folder = tmp_path_factory.mktemp(f"{name}-building")
                done = [run_hdbench("build", *arguments, cwd=folder) for arguments in builds]
                assert [each.stderr for each in done if each.returncode] == []
                (folder / "said.txt").write_text("".join(each.stdout for each in done))
                folder.rename(built)
        return shutil.copytree(built, tmp_path_factory.mktemp(name), dirs_exist_ok=True)

    return built_once


@pytest.fixture(scope="session")
def sample(built_once) -> Path:
    """A working directory with the sample built into its hdb/."""
    return built_once("sample", ("zettelkatalog", "--sample"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """A folder with a LLaVA of random weights, always the same, and its processor."""
    import torch  # noqa: PLC0415  slow to import
    from helpers.tiny_llava import save_tiny_llava  # noqa: PLC0415

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("tiny") / "llava"
    save_tiny_llava(folder)
    return folder


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def samples(built_once) -> Path:
    """A working directory with the samples of all benchmarks built into its hdb/."""
    from hdbench.benchmarks.spec import recipe_names  # noqa: PLC0415

    return built_once("samples", (*recipe_names(), "--sample"))


@pytest.fixture
def cards(tmp_path) -> Path:
    """A working directory with a benchmark of four little cards in hdb/cards, without images."""
    write_cards(tmp_path)
    return tmp_path


def pytest_make_parametrize_id(val, argname):
    """Bytes are named by their argument: gzip and ZIP have the time in them, and the workers of
    pytest-xdist, which import at different times, must collect the same names."""
    return argname if isinstance(val, bytes) else None
