"""The cosines of `lifecycle.calibration` mean for the shipped model what they say."""

from __future__ import annotations

from engram.embed.static import StaticEmbedder
from engram.rules.vectors import DEFAULT, SPACES, Thresholds, thresholds
from tests.tables import every

MODEL = StaticEmbedder()
NEAR = thresholds(MODEL.space.key)


def cosine(one: str, other: str) -> float:
    a, b = MODEL.embed([one, other])[1]
    return float(a @ b)


@every("limits", [DEFAULT, *SPACES.values()])
def test_the_cosines_stand_in_their_order(limits: Thresholds) -> None:
    assert limits.noise_mean < limits.related < limits.suppress < limits.strong < limits.duplicate < 1
    assert limits.noise_sd > 0


def test_the_shipped_model_was_measured_and_an_unknown_one_gets_the_default() -> None:
    assert NEAR is SPACES[MODEL.space.model]
    assert thresholds("engram-static-1") is NEAR
    assert thresholds("somebody/else/768/1") is DEFAULT


@every(
    ("one", "other"),
    [
        ("My editor is vim", "Actually, my editor is Helix now"),
        ("I live in Paris", "I live in London now"),
        ("The meeting is on Monday", "The meeting moved to Thursday"),
        ("The server runs on port 8080", "The server listens on port 9090"),
        ("我喜欢喝茶", "我更喜欢喝咖啡"),
    ],
)
def test_a_correction_is_related_to_what_it_corrects(one: str, other: str) -> None:
    assert cosine(one, other) >= NEAR.related


@every(
    ("one", "other"),
    [("I like red apples", "I like green apples"), ("My dog is called Rex", "My cat is called Tom")],
)
def test_two_statements_of_one_form_are_no_duplicates(one: str, other: str) -> None:
    assert cosine(one, other) < NEAR.strong


@every(
    ("one", "other"),
    [
        ("My wife is a doctor", "I enjoy hiking in the Alps"),
        ("My salary is 5000", "The weather is nice today"),
    ],
)
def test_strangers_stay_in_the_noise(one: str, other: str) -> None:
    assert cosine(one, other) < NEAR.noise_mean + NEAR.noise_sd
