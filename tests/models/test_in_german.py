"""What a run says while it goes on and at its end, in German."""

from threading import Thread

from hdbench.common.texts import set_language
from hdbench.errors import Message
from hdbench.models.run_progress import RunProgress

LATE = Message("no answer within {seconds:g} s", seconds=0.5)


def test_progress_uses_command_language_in_any_thread(capfd):
    set_language("de")
    with RunProgress.shown(1000, 2) as progress:
        progress.answered("a", Message("no answer: {why}", why=LATE))
        for told_elsewhere in (lambda: progress.notice(LATE), progress.say_where_it_is):
            thread = Thread(target=told_elsewhere)
            thread.start()
            thread.join()

    first, second, third = capfd.readouterr().err.splitlines()
    assert first == "a: keine Antwort: keine Antwort innerhalb von 0,5 s"
    assert second == "keine Antwort innerhalb von 0,5 s"
    assert third.startswith("3 von 1000 Einträgen erledigt, 1 gescheitert")
