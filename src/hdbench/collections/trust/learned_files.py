"""The files beside a plan: what it has learned, and the probability of each value."""

from pathlib import Path

import numpy as np

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.cuts import Probabilities
from hdbench.collections.trust.learning import (
    Learned,
    Learning,
    check_unchanged,
    learn,
    probabilities_sha256,
    second_stage,
)
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.plan import Plan
from hdbench.collections.trust.seals import read_sealed, write_sealed
from hdbench.common.os_errors import read_errors, write_errors
from hdbench.common.writing import lock, refuse_links, whole_file
from hdbench.errors import HdbenchError

LEARNED = "learned.yaml"
"""What was learned, beside the plan."""

PROBABILITIES = "probabilities.npy"
"""The probability of each value to be wrong, in billionths: a row for each item of the benchmark, a
column for each field of the plan; -1 where no run answered."""


def learned_file(plan_file: Path) -> Path:
    """Return the path of what a plan has learned."""
    return plan_file.with_name(LEARNED)


def check_place(plan_file: Path) -> None:
    """Refuse to write a plan beside what another plan has learned, which is never replaced.

    Raises:
        HdbenchError: something was learned there.
    """
    if learned_file(plan_file).exists():
        raise HdbenchError(
            "{place}: is what another plan has learned, and is never replaced: choose another "
            "folder with -o, one for each plan",
            place=learned_file(plan_file),
        )


def is_learned(plan: Plan, plan_file: Path) -> bool:
    """Return whether a plan has learned already.

    Raises:
        HdbenchError: see `read_learned`.
    """
    return learned_file(plan_file).exists() and read_learned(plan, plan_file) is not None


def learn_once(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Learned:
    """Learn and write what was learned beside the plan, unless that was done before.

    Several processes may do so at once: the second one waits for the first.

    Raises:
        HdbenchError: another plan has learned there; it cannot be written; see also
            `check_planned` and `learn`.
    """
    folder = plan_file.parent
    for name in (LEARNED, PROBABILITIES):
        refuse_links(folder / name)
    with write_errors(folder), lock(folder / f".{LEARNED}.lock"):
        if is_learned(plan, plan_file):
            return read_learned(plan, plan_file)
        ledger = Ledger(benchmark.folder)
        check_planned(ledger, plan, plan_file)
        learned, probabilities = learn(plan, benchmark, plan_file)
        with whole_file(folder / PROBABILITIES) as file:
            np.save(file, probabilities.astype("<i4"), allow_pickle=False)
        ledger.add("learned", plan.hash(), learned.hash())
        write_sealed(learned_file(plan_file), learned)
        return learned


def check_planned(ledger: Ledger, plan: Plan, plan_file: Path) -> None:
    """Refuse a plan that is not in the ledger, or that must not be verified any more.

    Raises:
        HdbenchError: it is one of these.
    """
    ledger.require("plan", plan.hash(), plan.hash(), plan_file)
    ledger.check_only({plan.hash(), *plan.after})


def open_verification(
    plan: Plan, learned: Learned, benchmark: Benchmark, plan_file: Path
) -> Ledger:
    """Return the ledger, in which a plan's verification is opened, as no other plan's is.

    Raises:
        HdbenchError: another plan is verified; the plan or what it learned is not in the ledger.
    """
    ledger = Ledger(benchmark.folder)
    check_planned(ledger, plan, plan_file)
    ledger.require("learned", plan.hash(), learned.hash(), learned_file(plan_file))
    ledger.add("verification", plan.hash(), learned.hash())
    ledger.check_only({plan.hash(), *plan.after})  # somebody else may have been faster
    return ledger


def read_learned(plan: Plan, plan_file: Path) -> Learned:
    """Return what a plan has learned, as it was written.

    Raises:
        HdbenchError: it is not there, cannot be read, was changed, or belongs to another plan.
    """
    path = learned_file(plan_file)
    if not path.exists():
        raise HdbenchError(
            "{place}: has not learned yet: hdbench annotate {benchmark} --only {place} opens the "
            "values to read first; then hdbench trust learn {place}",
            place=plan_file,
            benchmark=plan.benchmark,
        )
    learned = read_sealed(path, Learned)
    if learned.plan != plan.hash():
        raise HdbenchError(
            "{place}: is what another plan has learned ({hash}…), and is never replaced: keep each "
            "plan in a folder of its own",
            place=path,
            hash=learned.plan[:12],
        )
    return learned


def read_probabilities(
    plan: Plan, learned: Learned, plan_file: Path, ids: list[str]
) -> Probabilities:
    """Return the probability of each value, as it was sealed, with the cuts that follow from it.

    Raises:
        HdbenchError: the file is missing or was changed, or cuts and sample do not follow from it.
    """
    path = plan_file.with_name(PROBABILITIES)
    if not path.is_file():
        raise HdbenchError(
            "{place}: not here, but {learned} was made with it: put it back",
            place=path,
            learned=learned_file(plan_file),
        )
    values = plan.items * len(plan.fields)
    with read_errors(path):
        # The size of what comes before them is not read from there: anybody may have changed it.
        before = path.stat().st_size - values * np.dtype("<i4").itemsize
        flat = np.fromfile(path, "<i4", offset=max(0, before))
    probabilities = flat.astype(np.int32, copy=False)
    if before < 0 or probabilities_sha256(probabilities) != learned.probabilities_sha256:
        raise HdbenchError(
            "{place}: was changed after it was made: restore it: it cannot be learned again once "
            "values were verified by it",
            place=path,
        )
    probabilities = probabilities.reshape(plan.items, len(plan.fields))
    if second_stage(plan, probabilities, ids) != (learned.groups, learned.sample):
        raise HdbenchError(
            "{place}: its cuts or its values to verify are not what follows from the "
            "probabilities and the seed {seed}: nothing can be promised",
            place=learned_file(plan_file),
            seed=plan.seed,
        )
    return probabilities


def read_learning(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Learning:
    """Return all that a plan has learned, for a benchmark that is as it was then.

    Raises:
        HdbenchError: see `check_unchanged`, `read_learned` and `read_probabilities`.
    """
    ids = check_unchanged(plan, benchmark, plan_file)
    learned = read_learned(plan, plan_file)
    return Learning(learned, read_probabilities(plan, learned, plan_file, ids))
