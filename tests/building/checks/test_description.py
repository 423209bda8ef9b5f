"""What is wrong with `benchmark.yaml`: every key at once."""

import pytest


def test_a_good_folder_has_no_problem(folder):
    report = folder.check()
    assert report.problems == []
    assert report.summary == f"{folder.path}: 24 items, 0 errors, 0 warnings"


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("metric", "record_f", "did you mean record_f1?"),
        ("headline", "f1", "choose one of f1_micro"),
        ("headline", "f1_mikro", "did you mean f1_micro?"),
        ("higher_is_better", False, "write true"),
        ("licence", "CC BY 4.0", "did you mean cc-by-4.0?"),
        ("licence", "CC-BY-4.0", "write cc-by-4.0"),
        ("licence", "mine", "choose one of apache-2.0, cc-by-4.0"),
        ("version", "1.0", "write it as 1.0.0"),
        ("version", 1.0, "put it in quotes"),
        ("name", "../cards", "use small letters"),
        ("protocols", {"documented": {"lists": "sorted"}}, "correct it"),
    ],
)
def test_a_wrong_value_is_told_with_what_to_do(key, value, remedy, folder):
    folder.spec[key] = value
    problem = folder.only()
    assert (problem.severity, problem.file) == ("error", "benchmark.yaml")
    assert problem.field.startswith(key)
    assert remedy in problem.remedy


@pytest.mark.parametrize("licence", ["other", "GPL-3.0-only"])
def test_a_licence_that_is_not_open_is_a_warning(licence, folder):
    folder.spec["licence"] = licence
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("licence_not_open", "warning")
    assert "--accept-licence" in problem.remedy


@pytest.mark.parametrize(
    "text", ["{", "[" * 5_000, "- a", "a: 2026-13-45", "a: !!python/name:os.system", "\0"]
)
def test_invalid_yaml_is_one_problem_and_rows_are_still_checked(text, folder):
    folder.rows[3]["ground_truth"] = "x"
    folder.save()
    folder.write("benchmark.yaml", text)
    kinds = [each.kind for each in folder.check(save=False).problems]
    assert kinds == ["not_yaml", "truth_no_object"]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 8)}]\n" for level in range(1, 12)
)


@pytest.mark.parametrize(
    "text",
    [
        f"{BOMB}title: *a11\n",
        BOMB.replace("[x, x, x, x, x, x, x, x]", "{x: 1}")
        .replace("[*", "{<<: [*")
        .replace("]", "]}"),
        "title: &a [*a]\n",
        "\0",
    ],
)
def test_what_a_few_lines_can_stand_for_is_bounded(folder, text):
    folder.write("benchmark.yaml", text)
    [problem] = [each for each in folder.check(save=False).problems if each.kind == "not_yaml"]
    assert problem.message.startswith("not YAML: ")


def test_keys_that_are_no_texts_are_problems_like_others(folder):
    folder.save()
    text = (folder.path / "benchmark.yaml").read_text()
    folder.write("benchmark.yaml", text + "contact: {2020-01-01: x}\n")
    [problem] = folder.check(save=False).problems
    assert (problem.field, problem.kind) == ("contact", "key_wrong")
    assert "2020" in problem.examples[0].value
