"""A backend as CONTRIBUTING says how to add one: this file, and a line in `BACKENDS`."""

from hdbench.models.backend import SILENT, Backend, Reply


class ToyBackend(Backend):
    """Answers each item with the length of what it is asked."""

    def settings(self):
        return {"model": self.asked.model}

    def hardware(self):
        return {}

    def answer(self, questions, observer=SILENT):
        for question in questions:
            yield question.id, Reply(str(len(question.in_prompt(self.prompt))))
