"""The pages: each shows what its address asks for, so that a reload or a link brings it back."""

import hashlib
from collections.abc import Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from hdbench.about import __version__
from hdbench.answers.answers import UnknownIdsError
from hdbench.common.display.routes import shared_routes
from hdbench.common.texts import LANGUAGES, language_of
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.runs import recognized
from hdbench.models.items import of_benchmark
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space import model_runs
from hdbench.space.cards import picture
from hdbench.space.comparison import MAX_COMPARED, Wanted, comparison, recorded_runs
from hdbench.space.context import SpaceContext
from hdbench.space.documents import documents
from hdbench.space.first_view import problem, render
from hdbench.space.guard import FRAMED_BY, SANDBOX
from hdbench.space.leaderboard import Leaderboards, run_reports
from hdbench.space.model_runs import GOING, Ended, ModelRun, ModelRunView, duration
from hdbench.space.queue import Queue, QueuedWork
from hdbench.space.scoring import Upload, view, write_example
from hdbench.space.texts import TextError, page_language, reason, text, translations
from hdbench.space.visits import add_file, files_of, folder_of, new_visit
from hdbench.space.work import work

AT_ONCE = 2
"""The number of files that are scored, or sets of runs compared, at the same time."""

SOON = 0.4
"""Seconds that an answer waits for work that may soon be done."""

ITEMS = 5
"""Suggested number of items for a model."""

MAX_TEXT, MAX_FIELDS = 5_000, 200
"""Maximum characters of an answer, and fields of a record, that are shown."""

IMAGES = ".jpg,.jpeg,.png,.tif,.tiff,.webp"
"""The extensions that a browser offers; the content decides what a file is."""

_OWN = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
) + FRAMED_BY


@dataclass(frozen=True)
class PagePlace:
    """What the address of a page asks for.

    Attributes:
        tab: the page.
        benchmark: the benchmark's name.
        protocol: `documented` or `published`.
        strict: whether only valid JSON counts on the leaderboard.
        id: the id of what the visitor has brought or started; empty if nothing.
        run: the model that is shown of several in a file.
        recorded: recorded runs that are compared.
        lang: the language that was chosen; empty for that of the browser.
        theme: `light` or `dark`, if the Hub around the page says so.
    """

    tab: str
    benchmark: str
    protocol: str = "documented"
    strict: str = ""
    id: str = ""
    run: str = ""
    recorded: tuple[str, ...] = ()
    lang: str = ""
    theme: str = ""

    def at(self, **changes: Any) -> str:
        """Return the address of a page that differs in so much, relative to every page."""
        there = replace(self, **changes)
        usual = {"tab": "score", "protocol": "documented"}
        names = ("tab", "benchmark", "protocol", "strict", "id", "run", "lang")
        query = [(name, getattr(there, name)) for name in names]
        query += [("recorded", name) for name in there.recorded] + [("__theme", there.theme)]
        told = [(name, value) for name, value in query if value and value != usual.get(name)]
        return f"./?{urlencode(told)}"

    def elsewhere(self, tab: str, **changes: Any) -> str:
        """Return the address of another page, on which nothing is scored yet."""
        return self.at(tab=tab, id="", run="", recorded=(), strict="", **changes)


class Pages:
    """The pages of the Space, and the forms on them.

    Args:
        context: the operator's settings.

    Raises:
        HdbenchError: the namespace folder has no benchmark, or one is unusable.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        waiting: dict[str, Any] = {"most": context.max_waiting, "keep": context.keep_seconds}
        self.queue, self._models = Queue(AT_ONCE, **waiting), Queue(1, **waiting)
        self.boards = Leaderboards(context)
        self._watch = model_runs.with_gpu(context.max_run_seconds)
        self._model_names = list(model_runs.model_names(context.models))
        self._tabs: dict[str, Callable[[PagePlace, str], tuple[str, dict[str, Any]]]] = {
            "score": self._score,
            "compare": self._compare,
            "run": self._run,
            "leaderboard": self._leaderboard,
            "about": self._about,
        }
        if not self._model_names:
            del self._tabs["run"]
        if not (context.results and context.ranked):
            del self._tabs["leaderboard"]

    def end(self) -> None:
        """Begin no more work."""
        for queue in (self.queue, self._models, self.boards.queue):
            queue.end()

    @cached_property
    def routes(self) -> list[BaseRoute]:
        """The routes of all pages, files and forms."""
        forms = {
            "score": self._receive_answers,
            "compare": self._receive_runs,
            "run": self._ask_model,
        }
        own = {name: FileResponse(_OWN / name) for name in ("style.css", "page.js")}
        return [
            *shared_routes(),
            *(Route(f"/{name}", response) for name, response in own.items()),
            Route("/", self._page),
            *(
                Route(f"/{name}", self._form(form), methods=["POST"])
                for name, form in forms.items()
            ),
            Route("/stop", self._form(self._stop), methods=["POST"]),
            Route("/file/{id}/{path:path}", self._file),
            Route("/board", self._board),
            Route("/picture/{benchmark}/{size}", partial(picture, self._context)),
            run_reports(self._context),
        ]

    def _place(self, asked: Any, tab: str | None = None) -> PagePlace:
        """Return what an address or a form asks for, of what there is."""

        def one_of(name: str, offered: Iterable[str], default: str) -> str:
            return value if (value := asked.get(name)) in offered else default

        place = PagePlace(
            tab or one_of("tab", self._tabs, "score"),
            one_of("benchmark", self._context.benchmarks, self._context.first),
            one_of("protocol", PROTOCOLS, "documented"),
            one_of("strict", ["on"], ""),
            lang=one_of("lang", LANGUAGES, ""),
            theme=one_of("__theme", ["light", "dark"], ""),
        )
        recorded = tuple(dict.fromkeys(map(str, asked.getlist("recorded"))))
        named = {name: str(asked.get(name) or "") for name in ("id", "run")}
        return replace(place, recorded=recorded, **named)

    def _page(self, request: Request) -> Response:
        """Answer with a page; the same again says how far work on it is."""
        if request.method == "HEAD":  # with which Gradio, as it starts, waits three seconds at most
            return Response()
        place = self._place(request.query_params)
        language = page_language(request)
        status, values = 200, {}
        if place.id and folder_of(place.id) is None:
            status, values = 404, {"gone": True}
            place = replace(place, id="")
        try:
            template, more = self._tabs[place.tab](place, language)
        except HdbenchError as error:
            template, more = "problem_page.html", {"message": reason(error, language)}
        return self._rendered(template, place, language, status, **values, **more)

    def _rendered(
        self, template: str, place: PagePlace, language: str, status: int, **values: Any
    ) -> Response:
        page = render(
            template,
            language,
            **{"gone": False, "message": "", "work": None} | values,
            place=place,
            tabs=list(self._tabs),
            benchmarks=self._context.choices(language),
            title=self._context.benchmark(place.benchmark).spec.title_in(language),
            languages={code: texts["page_name"] for code, texts in translations().items()},
            megabytes=self._context.max_upload >> 20,
            minutes=self._context.keep_seconds // 60,
            version=__version__,
        )
        headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"}
        headers["Vary"] = "Accept-Language"
        return HTMLResponse(page.encode(errors="backslashreplace"), status, headers)

    # What each tab shows.

    def _score(self, place: PagePlace, language: str) -> tuple[str, dict[str, Any]]:
        if files := files_of(place.id):
            return "result.html", self._result(place, language, files[0])
        board = self.boards.piece(place.benchmark, "documented", strict=False)
        board.wait(SOON)
        cards = board.shown[language]["cards"] if board.is_done and board.shown else ""
        values = {"cards": cards, "work": _Work(self.boards.queue, board, language)}
        return "start.html", values | ({"gone": True} if place.id else {})

    def _result(self, place: PagePlace, language: str, path: Path) -> dict[str, Any]:
        """Return what there is to show of a scored file."""
        upload = Upload(place.benchmark, path, place.protocol, place.run or None)
        key = (place.id, upload, language)
        folder = folder_of(place.id)
        assert folder is not None  # noqa: S101  see `_page`
        out = folder / "out" / hashlib.sha256(repr(key).encode()).hexdigest()[:16]

        def steps() -> Generator[Any, None, None]:
            return work(view, self._context, upload, language, out)

        piece = self.queue.piece(key, steps)
        piece.wait(SOON)
        return {
            "view": piece.shown,
            "file": path.name,
            "files": {kind: _address(each) for kind, each in piece.shown.files.items()}
            if piece.shown
            else {},
            "runs": {name: cut(escaped(name or "")) for name in piece.shown.runs}
            if piece.shown
            else {},
            "work": _Work(self.queue, piece, language),
            **self._refusal(place, language, piece.problem),
        }

    def _refusal(
        self, place: PagePlace, language: str, error: HdbenchError | None
    ) -> dict[str, Any]:
        """Return why a file is not scored, and the benchmark that has its ids, if one has."""
        if error is None:
            return {}
        other = None
        if isinstance(error, UnknownIdsError):
            other = recognized(error.ids, self._context.ids)
        if other is None:
            return {"problem": problem(reason(error, language), language)}
        titles = {name: title for title, name in self._context.choices(language)}
        named = {"other": titles[other], "chosen": titles[place.benchmark]}
        file = files_of(place.id)[0].name
        question = text("elsewhere_which", language, file=file, **named)
        return {
            "problem": problem(question, language, "elsewhere"),
            "other": other,
            "other_button": text("elsewhere_button", language, **named),
        }

    def _compare(self, place: PagePlace, language: str) -> tuple[str, dict[str, Any]]:
        offered = recorded_runs(self._context, place.benchmark)
        values: dict[str, Any] = {"offered": offered, "most": MAX_COMPARED}
        if not (place.id or place.recorded):
            return "compare.html", values
        paths = tuple(files_of(place.id))
        wanted = Wanted(place.benchmark, paths, place.recorded, place.protocol, language)

        def steps() -> Generator[Any, None, None]:
            folder = folder_of(place.id or new_visit())
            assert folder is not None  # noqa: S101  see `_page`
            return work(comparison, self._context, wanted, folder / "out" / language)

        piece = self.queue.piece(wanted, steps)
        piece.wait(SOON)
        if piece.problem:
            told = reason(piece.problem, language)
            values["problem"] = problem(told, language, "compare_error")
        values |= {"work": _Work(self.queue, piece, language), "files": paths}
        if piece.shown:
            values |= {"view": piece.shown, "json": _address(piece.shown.file)}
        return "compare.html", values

    def _leaderboard(self, place: PagePlace, language: str) -> tuple[str, dict[str, Any]]:
        ranked = {name for _, name in self._context.ranked}
        if place.benchmark not in ranked:
            titles = [title for title, name in self._context.choices(language) if name in ranked]
            told = text("leaderboard_unranked", language, ranked=", ".join(titles))
            return "leaderboard.html", {"problem": problem(told, language, "leaderboard_error")}
        piece = self.boards.piece(place.benchmark, place.protocol, strict=bool(place.strict))
        piece.wait(SOON)
        values: dict[str, Any] = {"work": _Work(self.boards.queue, piece, language)}
        if piece.problem:
            told = reason(piece.problem, language)
            values["problem"] = problem(told, language, "leaderboard_error")
        elif piece.is_done:
            values |= piece.shown[language]
            query = {"benchmark": place.benchmark, "protocol": place.protocol}
            query |= {"strict": place.strict, "lang": language}
            values["address"] = f"board?{urlencode(query)}"
        return "leaderboard.html", values

    def _board(self, request: Request) -> Response:
        """Answer with the leaderboards alone, which their page shows in a frame."""
        place = self._place(request.query_params)
        piece = self.boards.piece(place.benchmark, place.protocol, strict=bool(place.strict))
        page = piece.shown[place.lang or "en"]["board"] if piece.is_done and piece.shown else ""
        headers = {"Content-Security-Policy": SANDBOX, "Cache-Control": "no-cache"}
        return HTMLResponse(page.encode(errors="backslashreplace"), 200 if page else 404, headers)

    def _about(self, _: PagePlace, language: str) -> tuple[str, dict[str, Any]]:
        return "about.html", documents(self._context, language)

    def _run(self, place: PagePlace, language: str) -> tuple[str, dict[str, Any]]:
        most = self._context.max_run_items
        prompt = model_runs.prompt_of(self._context, place.benchmark)
        benchmark = self._context.benchmark(place.benchmark)
        questions = of_benchmark(benchmark, limit=min(ITEMS, most)).questions
        values: dict[str, Any] = {
            "first_items": [each.id for each in questions if each.media],
            "models": self._model_names,
            "most": most,
            "suggested": min(ITEMS, most),
            "prompt": prompt,
            "images": IMAGES,
            "most_prompt": model_runs.MAX_PROMPT,
        }
        piece = self._models.find(place.id) if place.id else None
        if piece is None:
            return "run.html", values | ({"gone": True} if place.id else {})
        piece.wait(SOON)
        values["work"] = _Work(self._models, piece, language)
        if piece.problem:
            values["problem"] = problem(reason(piece.problem, language), language, "run_error")
        shown: ModelRunView | None = piece.shown
        if shown is None:
            return "asked.html", values
        values |= run_values(shown, language, self._context.max_run_seconds)
        if shown.state.ended and shown.state.answers and not shown.run.own_image:
            values |= self._result(place, language, shown.run.path)
        return "asked.html", values

    # What is brought to the server.

    def _form(
        self, answer: Callable[[PagePlace, FormData, str], PagePlace]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the route's function for a form, which leads to a page."""

        async def answered(request: Request) -> Response:
            async with request.form(max_files=2 * MAX_COMPARED, max_fields=100) as form:
                place = self._place(form, tab=request.url.path.strip("/"))
                language = place.lang or language_of(request.headers.get("accept-language"))
                try:
                    there = await run_in_threadpool(answer, place, form, language)
                except HdbenchError as error:
                    told = reason(error, language)
                    values = {"message": told}
                    return self._rendered("problem_page.html", place, language, 422, **values)
            return RedirectResponse(there.at(), 303)

        return answered

    def _receive_answers(self, place: PagePlace, form: FormData, language: str) -> PagePlace:
        """Take a file of answers, or the example."""
        name = new_visit()
        if form.get("example"):
            with TemporaryDirectory() as scratch:
                path = write_example(self._context.benchmark(place.benchmark), Path(scratch))
                with path.open("rb") as file:
                    add_file(name, file, path.name)
        elif not self._keep_files(name, form, 1):
            raise TextError("choose_file", megabytes=self._context.max_upload >> 20)
        return replace(place, tab="score", id=name, recorded=())

    def _receive_runs(self, place: PagePlace, form: FormData, _: str) -> PagePlace:
        """Take files of answers that are compared with each other, or with recorded runs."""
        name = new_visit()
        return replace(
            place, tab="compare", id=name if self._keep_files(name, form, MAX_COMPARED) else ""
        )

    def _keep_files(self, name: str, form: FormData, most: int) -> int:
        """Keep the files of a form, and return how many there were."""
        files = [each for each in form.getlist("file") if isinstance(each, UploadFile)]
        files = [each for each in files if each.filename]
        if len(files) > most:
            raise TextError("compare_more", most=most)
        for file in files:
            if (file.size or 0) > self._context.max_upload:
                raise TextError("too_large", megabytes=self._context.max_upload >> 20)
            add_file(name, file.file, file.filename or "")
        return len(files)

    def _ask_model(self, place: PagePlace, form: FormData, language: str) -> PagePlace:
        """Have a model read some items, or an image."""
        name = new_visit()
        folder = folder_of(name)
        assert folder is not None  # noqa: S101  just made
        (folder / "run").mkdir()
        (folder / "run" / GOING).touch()
        asked = (self._context, str(form.get("model")), place.benchmark)
        if form.get("own"):
            if not self._keep_files(name, form, 1):
                raise TextError("run_choose_image")
            image, prompt = files_of(name)[0], str(form.get("prompt") or "")
            run = model_runs.run_on_image(*asked, image, prompt, folder / "run")
        else:
            try:
                items = float(str(form.get("items")))
            except ValueError:
                items = float("nan")
            run = model_runs.run_on_items(*asked, items, folder / "run")
        run = run._replace(language=language)
        self._models.piece(name, partial(model_runs.run_views, self._context, run, self._watch))
        return replace(place, tab="run", id=name)

    def _stop(self, place: PagePlace, *_: Any) -> PagePlace:
        """End a run of a model."""
        if folder := folder_of(place.id):
            (folder / "run" / GOING).unlink(missing_ok=True)
        return replace(place, tab="run")

    def _file(self, request: Request) -> Response:
        """Answer with a file made for a visitor: a report as a page, and the others to be saved."""
        folder, name = folder_of(request.path_params["id"]), request.path_params["path"]
        path = folder and (folder / "out" / name).resolve()
        if name == "answers.jsonl" and folder:
            path = next((folder / "run").glob("*/answers.jsonl"), None)
        elif not (folder and path and path.is_relative_to(folder.resolve() / "out")):
            path = None
        if path is None or not path.is_file():
            language = page_language(request)
            headers = {"Content-Security-Policy": SANDBOX}
            return HTMLResponse(render("gone.html", language), 404, headers)
        headers = {"Content-Security-Policy": SANDBOX, "Cache-Control": "private, no-store"}
        is_page = path.suffix == ".html" and "save" not in request.query_params
        return FileResponse(
            path,
            headers=headers,
            filename=None
            if is_page
            else f"hdbench-{path.name}".replace("hdbench-hdbench", "hdbench"),
            media_type="text/html; charset=utf-8" if is_page else None,
        )


def run_values(shown: ModelRunView, language: str, limit: float) -> dict[str, Any]:
    """Return what the page of a run shows of it.

    Args:
        shown: the run.
        language: the interface's language.
        limit: maximum seconds that it may take.
    """
    state = shown.state
    done = len(state.answers)
    if state.ended is None:
        key = "run_going" if done or state.now else "run_loading"
    elif done or state.ended == Ended.FAILED:
        key = f"run_{state.ended}"
    else:
        key = f"run_{state.ended}_none"
    times = {"elapsed": duration(state.elapsed), "limit": duration(limit)}
    left = None if state.left is None else duration(state.left)
    return {
        "shown": shown,
        "state": state,
        "line": text(key, language, done=done, total=state.total, **times),
        "elapsed": text("run_elapsed", language, **times),
        "left": text("run_left", language, left=left) if left else "",
        "failure": cut(state.problem, MAX_MESSAGE),
        "answers": state.answers[::-1],
        "short": lambda value: cut(str(value), MAX_TEXT),
        "plain": escaped,  # in attributes, which cannot have markup
        "fields": shown.fields[:MAX_FIELDS],
        "more": max(0, len(shown.fields) - MAX_FIELDS),
        "titles": shown.run.benchmark.field_titles(language),
        "lines": f"file/{_visit_of(shown.run)}/answers.jsonl",
    }


class _Work:
    """How far a piece of work is, for its page."""

    def __init__(self, queue: Queue, piece: QueuedWork, language: str) -> None:
        self.is_done = piece.is_done
        self.ahead = 0 if piece.has_begun else queue.ahead(piece)
        progress = piece.progress
        self.done, self.total = (progress.done, progress.total) if progress else (0, None)
        if not piece.has_begun:
            self.doing = text("waiting", language, count=self.ahead)
        else:
            self.doing = text(progress.doing if progress else "progress_begin", language)
        self.words = self.doing
        if self.total and piece.has_begun:
            values = {"doing": self.doing, "done": self.done, "total": self.total}
            self.words = text("progress_of", language, **values)


def _address(path: Path) -> str:
    """Return the address of a file that was made for a visitor, relative to every page."""
    place = path.parts[path.parts.index("visits") + 1 :]
    return f"file/{place[0]}/{'/'.join(place[2:])}"


def _visit_of(run: ModelRun) -> str:
    return run.folder.parent.name
