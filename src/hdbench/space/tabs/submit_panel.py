"""The controls below a scored result that submit it to the leaderboard."""

import datetime
import html

import gradio as gr

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.submit_hub import AN_HOUR, Hourly, open_pull_request
from hdbench.space.jobs.submitting import (
    MAX_NAME,
    MAX_NOTE,
    Scored,
    Statement,
    Submission,
    SubmissionError,
)
from hdbench.space.jobs.tasks import submission
from hdbench.space.jobs.turns import Turns
from hdbench.space.jobs.working import Workers
from hdbench.space.tabs.telling import visitor_of
from hdbench.space.texts import Say, reason
from hdbench.space.views.summary import four_digits, problem, render


def submit_panel(context: SpaceContext, workers: Workers, say: Say, repository: str) -> gr.State:
    """The controls, within a `gr.Blocks`: they appear when there is something to submit.

    Args:
        context: the Space's context.
        workers: the processes that score the submission again.
        say: the texts.
        repository: the dataset on the Hub that submissions go to.

    Returns:
        Where to put what was scored, a `Scored`; None if nothing was.
    """
    scored = gr.State(time_to_live=context.keep_seconds)
    hourly = Hourly(AN_HOUR)
    turns = Turns(1, context.max_waiting, context.max_per_visitor)
    with gr.Accordion(say("submit"), open=False, visible=False, elem_id="submit-panel") as panel:
        gr.Markdown(say("submit_what"))
        gr.HTML(f"<p class='hdb-of'><code>{html.escape(repository)}</code></p>")
        model = gr.Textbox(
            label=say("submit_model"),
            info=say("submit_model_info"),
            max_length=MAX_NAME,
            elem_id="submit-model",
        )
        local = gr.Checkbox(label=say("submit_local"), elem_id="submit-local")
        provider = gr.Textbox(
            label=say("submit_provider"),
            info=say("submit_provider_info"),
            max_length=MAX_NAME,
            elem_id="submit-provider",
        )
        own_prompt = gr.Checkbox(
            label=say("submit_own_prompt"),
            info=say("submit_own_prompt_info"),
            elem_id="submit-own-prompt",
        )
        note = gr.Textbox(label=say("submit_note"), max_length=MAX_NOTE, elem_id="submit-note")
        name = gr.Textbox(
            label=say("submit_name"),
            info=say("submit_name_info"),
            max_length=MAX_NAME,
            elem_id="submit-name",
        )
        consent = gr.Checkbox(label=say("submit_consent"), elem_id="submit-consent")
        send = gr.Button(say("submit_send"), variant="primary", elem_id="submit-send")
        told = gr.HTML(elem_id="submit-told", min_height=40)

    def submit(  # noqa: PLR0917  Gradio gives the inputs in their order
        scored: Scored | None,
        model: str,
        provider: str,
        local: bool,
        own_prompt: bool,
        note: str,
        name: str,
        consent: bool,
        request: gr.Request,
    ) -> str:
        address, language = visitor_of(request)
        statement = Statement(model, provider, local, own_prompt, note, name, consent)
        try:
            if scored is None:
                raise SubmissionError("submit_file_gone")
            # One at a time: otherwise two could submit the same before either is there.
            with turns.turn(address) as turn:
                while turns.wait(turn):
                    pass
                today = datetime.datetime.now(datetime.UTC).date()
                made = workers.result(address, submission, context, scored, statement, today)
                hourly.take()
                return _done(made, open_pull_request(repository, made), language)
        except HdbenchError as error:
            return problem(reason(error, language), language, "submit_error")

    local.input(
        lambda local: gr.update(visible=not local), local, provider, api_visibility="private"
    )
    scored.change(
        lambda scored: [gr.update(visible=scored is not None), ""],
        scored,
        [panel, told],
        api_visibility="private",
    )
    send.click(
        submit,
        [scored, model, provider, local, own_prompt, note, name, consent],
        told,
        api_visibility="private",
    )
    return scored


def _done(submission: Submission, url: str, language: str) -> str:
    result = submission.result
    return render(
        "submit_done.html",
        language,
        url=url,
        headline=result.headline,
        value=four_digits(result.value, language),
        folder=submission.folder,
    )
