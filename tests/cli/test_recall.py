from __future__ import annotations

import pytest

from tests.cli.shell import Shell
from tests.tables import every

EDITOR = "My editor is Helix"


@pytest.fixture
def filled(shell: Shell) -> Shell:
    shell.remember(EDITOR)
    shell.remember("The staging server is called heron", "--tag", "ops")
    shell.remember("To deploy: run the tests, then push the tag", "--category", "procedure")
    return shell


def test_the_best_hit_comes_first_with_how_well_it_fits_and_its_id(filled: Shell) -> None:
    header, first, *_ = filled.says("recall", "which editor do I use?").splitlines()

    assert header.split() == ["#", "fits", "id", "age", "memory"]
    assert first.split()[0] == "1"
    assert first.endswith(EDITOR)


def test_a_program_gets_the_whole_answer(filled: Shell) -> None:
    answer = filled.json("recall", "which editor do I use?")

    assert answer["hits"][0]["memory"]["content"] == EDITOR
    assert 0 < answer["hits"][0]["relevance"] <= 1
    assert answer["quality"]["returned"] == len(answer["hits"])
    assert "evidence" not in answer["hits"][0], "why is told where it is asked for, as over HTTP"
    assert filled.json("recall", "which editor do I use?", "--explain")["hits"][0]["evidence"]


def test_words_need_no_quotation_marks_and_a_dash_reads_stdin(filled: Shell) -> None:
    spoken = filled.says("recall", "which", "editor", "do", "I", "use", "-q")

    assert spoken == filled.says("recall", "-", "-q", stdin="which editor do I use\n")
    assert spoken.splitlines()[0] == EDITOR


def test_nothing_rather_than_noise(filled: Shell) -> None:
    result = filled("recall", "quantum chromodynamics lattice")

    assert result.exit_code == 1
    assert result.stdout.startswith("nothing fits.")
    assert filled.json("recall", "quantum chromodynamics lattice", code=1)["hits"] == []


def test_the_explanation_shows_plan_parts_evidence_time_and_quality(filled: Shell) -> None:
    said = filled.says("recall", "which editor do I use?", "--explain")

    for word in ("? which editor do I use?", "plan", "terms", "weights", "trust", "relevance", "accuracy",
                 "freshness", "utility", "time", "quality", EDITOR):  # fmt: skip
        assert word in said
    answer = filled.json("recall", "which editor do I use?", "--explain")
    for evidence in answer["hits"][0]["evidence"]:
        assert evidence["name"] in said


def test_the_explanation_says_what_was_left_out(filled: Shell) -> None:
    result = filled("recall", "which editor do I use?", "--min-relevance", "1", "--explain")

    answer = filled.json(
        "recall", "which editor do I use?", "--min-relevance", "1", "--explain", code=result.exit_code
    )
    assert answer["dropped"]
    assert "left out" in result.stdout
    assert answer["dropped"][0]["memory"][:8] in result.stdout


def test_filters_narrow_the_search(filled: Shell) -> None:
    found = filled.json("recall", "server editor deploy tests", "--min-relevance", "0", "--tag", "ops")

    assert [hit["memory"]["tags"] for hit in found["hits"]] == [["ops"]]
    assert filled.json("recall", "deploy", "--since", "2999-01-01", code=1)["hits"] == []
    assert filled.json("recall", "deploy", "--category", "procedure")["hits"]


def test_the_limit_holds(filled: Shell) -> None:
    assert len(filled.json("recall", "server editor deploy", "--min-relevance", "0", "-n", "1")["hits"]) == 1


def test_a_dry_look_leaves_no_trace(filled: Shell) -> None:
    filled.says("recall", "which editor do I use?", "--dry")

    assert {one["usage"]["accessed"] for one in filled.json("list")["memories"]} == {0}


def test_a_forgotten_memory_is_found_only_on_request(filled: Shell) -> None:
    found = filled.json("recall", "staging server")["hits"][0]["memory"]["id"]
    filled.says("forget", found)

    assert filled.json("recall", "staging server called heron", code=1)["hits"] == []
    assert filled.json("recall", "staging server", "--archived")["hits"][0]["memory"]["id"] == found


def test_a_question_is_text_and_never_syntax(filled: Shell) -> None:
    for question in ('" OR 1=1 --', "editor NEAR( *", "'; DROP TABLE memories;", "[bold]editor[/bold]"):
        assert filled("recall", "--", question).exit_code in (0, 1)
    assert len(filled.json("list")["memories"]) == 3


@every(
    ("words", "code"),
    [
        (("recall", "editor", "-n", "0"), "E2008"),
        (("recall", "editor", "--mode", "dreams"), "E2000"),
        (("recall", "editor", "--budget", "many"), "E2000"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(filled: Shell, words: tuple[str, ...], code: str) -> None:
    assert filled.json(*words, code=2)["error"]["code"] == code


def test_another_project_is_another_memory(shell: Shell) -> None:
    shell.remember("The launch code name is bluebird", "--project", "apollo")

    assert shell.json("recall", "launch code name", "--project", "gemini", code=1)["hits"] == []
    assert shell.json("--project", "apollo", "recall", "launch code name")["hits"]


def test_sessions_can_be_ranked_instead_of_hits(shell: Shell) -> None:
    for session, said in (("s1", "The cello is old"), ("s1", "We tuned the cello"), ("s2", "A cello!")):
        shell.remember(said, "--session", session, "--speaker", "Ann")

    answer = shell.json("recall", "cello", "--sessions", "--min-relevance", "0")
    assert [one["session"] for one in answer["sessions"]] == ["s1", "s2"]
    assert "s1" in shell.says("recall", "cello", "--sessions", "--min-relevance", "0").splitlines()[1]


def test_the_explanation_tells_what_the_question_is_after(filled: Shell) -> None:
    said = filled.says(
        "recall", "why did the Helix editor crash last week?", "--explain", "--min-relevance", "0"
    )

    assert "causal" in said
    assert "last week: " in said
    assert "language en" in said


def test_a_person_may_steer_the_plan(filled: Shell) -> None:
    plan = filled.json(
        "recall",
        "editor",
        "--intent",
        "temporal",
        "--weight",
        "text=0.5",
        "--weight",
        "vector=2",
        "--no-expand",
    )["plan"]

    assert plan["intent"] == "temporal"
    assert (plan["weights"]["text"], plan["weights"]["vector"]) == (0.5, 2.0)


@every("weight", ["smell=1", "text=much", "text=-1"])
def test_a_weight_that_makes_no_sense_is_refused(filled: Shell, weight: str) -> None:
    assert filled("recall", "editor", "--weight", weight).exit_code == 2


def test_an_empty_question_is_a_mistake_and_no_answer(shell: Shell) -> None:
    shell.remember("Tea is at four")

    assert shell("recall", "").exit_code == 2
    assert "empty" in shell("recall", " ").stderr
