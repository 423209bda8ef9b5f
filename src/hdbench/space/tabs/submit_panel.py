"""The controls below a scored result that submit it to the leaderboard."""

import datetime
import html

import gradio as gr

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload
from hdbench.space.jobs.submit_hub import AN_HOUR, Hourly, open_pull_request
from hdbench.space.jobs.submitting import (
    MAX_NAME,
    MAX_NOTE,
    Statement,
    SubmissionError,
    make_submission,
)
from hdbench.space.jobs.turns import Turns
from hdbench.space.jobs.working import TaskProcesses
from hdbench.space.tabs.shared import PRIVATE, Given, button, field, visitor_of
from hdbench.space.texts import Say, reason
from hdbench.space.views.summary import four_digits, problem, render


def submit_panel(
    context: SpaceContext, workers: TaskProcesses, say: Say, repository: str
) -> gr.State:
    """Add the controls to a `gr.Blocks`: they appear when there is something to submit.

    Args:
        context: the Space's context.
        workers: the processes that score the submission again.
        say: the texts.
        repository: the dataset on the Hub that submissions go to.

    Returns:
        Where to put what was scored, an `Upload`; None if nothing was.
    """
    scored = gr.State(time_to_live=context.keep_seconds)
    hourly = Hourly(AN_HOUR)
    turns = Turns(1, context.max_waiting, context.max_per_visitor)
    with gr.Accordion(say("submit"), open=False, visible=False, elem_id="submit-panel") as panel:
        gr.Markdown(say("submit_what"))
        gr.HTML(f"<p class='hdb-of'><code>{html.escape(repository)}</code></p>")
        model = field(gr.Textbox, say, "submit_model", max_length=MAX_NAME)
        local = field(gr.Checkbox, say, "submit_local")
        provider = field(gr.Textbox, say, "submit_provider", max_length=MAX_NAME)
        own_prompt = field(gr.Checkbox, say, "submit_own_prompt")
        note = field(gr.Textbox, say, "submit_note", max_length=MAX_NOTE)
        name = field(gr.Textbox, say, "submit_name", max_length=MAX_NAME)
        consent = field(gr.Checkbox, say, "submit_consent")
        send = button(say, "submit_send", variant="primary")
        told = gr.HTML(elem_id="submit-told", min_height=40)
    stated = [model, provider, local, own_prompt, note, name, consent]  # as in `Statement`

    def submit(given: Given, request: gr.Request) -> str:
        address, language = visitor_of(request)
        upload: Upload | None = given[scored]
        statement = Statement(*(given[each] for each in stated))
        try:
            if upload is None:
                raise SubmissionError("submit_file_gone")
            # One at a time: otherwise two could submit the same before either is there.
            with turns.turn(address) as turn:
                while turns.wait(turn):
                    pass
                today = datetime.datetime.now(datetime.UTC).date()
                made = workers.result(address, make_submission, context, upload, statement, today)
                hourly.take()
                url = open_pull_request(repository, made)
        except HdbenchError as error:
            return problem(reason(error, language), language, "submit_error")
        headline = made.result.headline
        return render(
            "submit_done.html",
            language,
            url=url,
            headline=headline,
            value=four_digits(made.result.figures()[headline], language),
            folder=made.folder,
        )

    local.input(lambda local: gr.update(visible=not local), local, provider, **PRIVATE)
    scored.change(
        lambda scored: [gr.update(visible=scored is not None), ""], scored, [panel, told], **PRIVATE
    )
    send.click(submit, {scored, *stated}, told, **PRIVATE)
    return scored
