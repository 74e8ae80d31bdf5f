"""A prompt over REST."""

from __future__ import annotations

from tests.server.conftest import Client
from tests.server.test_memories import keep


def test_a_prompt_is_made_within_its_budget(client: Client) -> None:
    keep(client, "My editor is Helix")
    asked = {
        "message": "which editor do I use?",
        "model": "gpt-4o",
        "system": "You help.",
        "budget": 500,
        "history": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
        "sections": {"identity": ["You are Rex."], "working": [{"id": "1", "content": "We test."}]},
    }

    made = client.post("/v1/context", json=asked).json()

    assert "My editor is Helix</memory>" in made["system_prompt"]
    assert "You are Rex." in made["system_prompt"]
    assert "<memory>We test.</memory>" in made["system_prompt"]
    assert [one["content"] for one in made["conversation"]] == ["Hello", "Hi", "which editor do I use?"]
    assert made["tokens"] <= made["budget"] == 500
    assert made["model"]["provider"] == "openai"
    assert {row["name"] for row in made["sections"]} >= {"system", "message", "recalled"}


def test_what_cannot_be_done_is_said(client: Client) -> None:
    assert client.post("/v1/context", json={"message": "word " * 99, "budget": 50}).json()["code"] == "E2026"
    assert client.post("/v1/context", json={"message": 5}).status_code == 400
    assert client.post("/v1/context", json={"history": ["x"]}).status_code == 400
