"""Which values that models read need no human, with a promise; and what becomes of all of them.

A command's work is in the file of what it makes: `plan` in `plan.py`, `learn` in `learning.py`,
`decide` in `decision.py`, `apply` in `acceptance.py` (in the files of `folder.py`), `control` in
`control.py`, `finish` in `delivery.py`. The ledger of all these steps is `ledger.py`.

- What models say of a value, and which one is chosen: `runs.py`; its field: `fields.py`.
- Which values are drawn: `sample.py`; who may read them now: `blind_reading.py`; what came of it,
  and which values are wrong: `outcomes.py`.
- How probable it is that a value is wrong: `probabilities.py`; which cut passes: `cuts.py`, with
  the bound of `hdbench.statistics.share_of_unread`; what to expect: `outlook.py`.
- What a decision says: `decision_file.py`; in words: `sentences.py`; to sign: `decision_page.py`.
- What is on the work list, and what people filled in there: `work_list.py`; where each value comes
  from: `origins.py`.
- What must be as it was: `seals.py` (files), `benchmark_state.py` (the benchmark).
"""
