"""A submission as a pull request on the results dataset, with the operator's token."""

import time
from collections import deque
from itertools import islice

import httpx2
from huggingface_hub import CommitOperationAdd, HfApi, get_session, get_token, set_client_factory
from huggingface_hub.errors import HfHubHTTPError

from hdbench.answers.run_info import RUN_FILE
from hdbench.space.jobs.submitting import Submission, SubmissionError, description

AN_HOUR = 20
"""Maximum submissions from all visitors together in an hour."""

HOUR = 3600  # seconds

TIMEOUT = 30.0
"""Maximum seconds that the Hub may take to send its next byte."""

MAX_PULLS = 1000
"""Maximum number of open pull requests that are checked."""

_REASONS = {401: "submit_hub_401", 403: "submit_hub_403", 404: "submit_hub_404"}


class Hourly:
    """The number of submissions that may be made in an hour.

    Args:
        most: the number of calls of `take` that an hour allows.
    """

    def __init__(self, most: int) -> None:
        self._times: deque[float] = deque(maxlen=most)

    def take(self) -> None:
        """Count another submission.

        Raises:
            SubmissionError: the limit is reached.
        """
        now = time.monotonic()
        if len(self._times) == self._times.maxlen and now - self._times[0] < HOUR:
            raise SubmissionError("submit_too_many")
        self._times.append(now)


def bound_time() -> None:
    """Limit how long this process waits for the Hub, for all of its requests.

    `HfApi.create_commit` takes no timeout, and by default its client waits forever.
    """
    hooks = get_session().event_hooks  # of the default client, which HF_HUB_OFFLINE goes through
    set_client_factory(
        lambda: httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=TIMEOUT)
    )


def open_pull_request(repository: str, submission: Submission) -> str:
    """Propose a run to a results dataset on the Hub, in one commit.

    Args:
        repository: the dataset's id.
        submission: the run.

    Returns:
        The pull request's address.

    Raises:
        SubmissionError: there is no token, the run or a pull request for it exists already, or the
            Hub refuses or cannot be reached; then nothing was submitted. No message contains
            anything of the token or of the Hub's response.
    """
    token = get_token()
    if not token:
        raise SubmissionError("submit_no_token")
    hub = HfApi(token=token)
    try:
        _refuse_second(hub, repository, submission)
        commit = hub.create_commit(
            repository,
            [
                CommitOperationAdd(f"{submission.folder}/{name}", content)
                for name, content in submission.files.items()
            ],
            commit_message=f"Run {submission.folder}",
            commit_description=description(submission),
            repo_type="dataset",
            create_pr=True,
        )
    except SubmissionError:
        raise
    except Exception as error:  # it may hold anything
        # Without the cause, which names the request, with the token in its headers.
        raise _reason(error, repository) from None
    return str(commit.pr_url)


def _refuse_second(hub: HfApi, repository: str, submission: Submission) -> None:
    """Refuse answers that were submitted before, even with another date or model name."""
    benchmark = submission.folder.partition("/")[0]
    siblings = hub.dataset_info(repository, timeout=TIMEOUT).siblings or []
    for name in (sibling.rfilename for sibling in siblings):
        if name.startswith(f"{benchmark}/") and name.endswith(f"-{submission.digest}/{RUN_FILE}"):
            raise SubmissionError("submit_there", folder=name.removesuffix(f"/{RUN_FILE}"))
    pulls = hub.get_repo_discussions(
        repository,
        repo_type="dataset",
        discussion_type="pull_request",
        discussion_status="open",
    )
    for pull in islice(pulls, MAX_PULLS):
        if pull.title.endswith(f"-{submission.digest}"):
            raise SubmissionError("submit_proposed", url=pull.url)


def _reason(error: BaseException | None, repository: str) -> SubmissionError:
    """Return the meaning of a failure of the client."""
    while error is not None:
        if isinstance(error, HfHubHTTPError):
            status = error.response.status_code
            return SubmissionError(
                _REASONS.get(status, "submit_hub_trouble"), repository=repository, status=status
            )
        error = error.__cause__
    return SubmissionError("submit_hub_unreachable")
