"""A backend that answers from a script: a real one of the interface, without a model."""

from hdbench.models.backend import SILENT, Reply


class Scripted:
    """Answers each question by a function of its id; what that raises ends the run."""

    def __init__(self, answer, **settings):
        self._answer = answer
        self._settings = settings
        self.asked = []

    def settings(self):
        return {"model": "scripted", **self._settings}

    def hardware(self):
        return {"device": "paper"}

    def answer(self, questions, observer=SILENT):
        for question in questions:
            self.asked.append(question.id)
            reply = self._answer(question.id)
            yield question.id, reply if isinstance(reply, Reply) else Reply(reply)
