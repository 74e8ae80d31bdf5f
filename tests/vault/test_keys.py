"""What opens a file, where it comes from, and what happens without it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoBackend
from keyring.errors import PasswordDeleteError

from engram import Engram
from engram.api import vault
from engram.errors import BadKey, KeyNeeded, KeyNotWanted, NoKeychain, StoreBusy, VaultRefused
from engram.keys import read_key
from engram.testing import HashEmbedder

KEY = bytes(range(32))
OTHER = KEY[::-1]


class Keychain(KeyringBackend):
    """A keychain in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ENGRAM_KEY", "ENGRAM_KEY_FILE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(NoBackend())  # type: ignore[no-untyped-call]
    yield
    keyring.set_keyring(before)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


@pytest.fixture
def keychain() -> Keychain:
    made = Keychain()
    keyring.set_keyring(made)
    return made


def keep(path: str, words: str, key: bytes | str | None = None) -> None:
    with Engram.open(path, key=key, embedder=HashEmbedder()) as memory:
        memory.remember(words)


def kept(path: str, key: bytes | str | None = None) -> list[str]:
    with Engram.open(path, key=key, embedder=HashEmbedder()) as memory:
        return [one.content for one in memory.list().memories]


def test_a_new_file_under_a_key_is_a_vault(path: str) -> None:
    keep(path, "the word is marmalade", KEY)

    assert b"marmalade" not in Path(path).read_bytes()
    assert kept(path, KEY) == ["the word is marmalade"]
    assert kept(path, KEY.hex()) == kept(path, base64.b64encode(KEY).decode()) == ["the word is marmalade"]


@pytest.mark.parametrize("key", [None, OTHER, "a passphrase"])
def test_a_vault_without_its_key_is_not_opened(path: str, key: bytes | str | None) -> None:
    keep(path, "the word is marmalade", KEY)
    before = Path(path).read_bytes()

    with pytest.raises(KeyNeeded) as refused:
        Engram.open(path, key=key)

    assert refused.value.code == "E1001"
    assert refused.value.wrong is (key is not None)
    assert Path(path).read_bytes() == before


def test_a_key_for_a_file_in_clear_is_an_error(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(path, "tea")

    with pytest.raises(KeyNotWanted):
        Engram.open(path, key=KEY)
    monkeypatch.setenv("ENGRAM_KEY", KEY.hex())
    with pytest.raises(KeyNotWanted):
        Engram.open(path)


def test_the_key_comes_from_the_environment_or_a_file(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_KEY", KEY.hex())
    keep(path, "tea")
    assert kept(path) == ["tea"]
    monkeypatch.delenv("ENGRAM_KEY")

    named = Path(path).with_name("key")
    named.write_bytes(KEY)
    monkeypatch.setenv("ENGRAM_KEY_FILE", str(named))
    assert kept(path) == ["tea"]
    named.unlink()
    with pytest.raises(BadKey):
        Engram.open(path)


@pytest.mark.slow
def test_a_passphrase_opens_what_it_closed(path: str) -> None:
    keep(path, "tea", "correct horse battery staple")

    assert kept(path, "correct horse battery staple") == ["tea"]
    with pytest.raises(KeyNeeded):
        Engram.open(path, key="correct horse")


def test_a_key_is_told_from_a_passphrase() -> None:
    assert read_key(KEY.hex()) == KEY
    assert read_key(base64.urlsafe_b64encode(KEY).decode().rstrip("=")) == KEY
    assert read_key(f"  {KEY.hex()}\n") == KEY
    assert read_key("correct horse") == "correct horse"
    for bad in ("", b"\xff" * 31):
        with pytest.raises(BadKey):
            read_key(bad)


@pytest.mark.slow
def test_a_file_becomes_a_vault_and_a_file_again(path: str) -> None:
    for word in ("tea", "coffee", "water"):
        keep(path, f"I drink {word}")
    before = kept(path)

    vault.init_vault(path, passphrase="correct horse")
    assert vault.vault_status(path).state == "vault"
    assert kept(path, "correct horse") == before
    with pytest.raises(VaultRefused):
        vault.init_vault(path, passphrase="again")

    vault.remove_vault(path, key="correct horse")
    assert kept(path) == before
    left = {one.name: one.stat().st_mode & 0o077 for one in Path(path).parent.iterdir()}
    assert left == {"memory.db": 0, "memory.db-key": 0}


@pytest.mark.slow
def test_another_key_ends_the_old_one(path: str) -> None:
    keep(path, "tea", "first")
    backup = Path(path).read_bytes()

    vault.rotate_vault(path, key="first", passphrase="second")

    assert kept(path, "second") == ["tea"]
    with pytest.raises(KeyNeeded):
        Engram.open(path, key="first")
    Path(path).write_bytes(backup)  # what was copied before, under a key that is gone
    for key in ("first", "second"):
        with pytest.raises(KeyNeeded):
            Engram.open(path, key=key)


def test_a_file_that_is_open_is_left_alone(path: str) -> None:
    keep(path, "tea")
    with Engram.open(path, embedder=HashEmbedder(), config={"store.busy_timeout_s": 0.2}) as memory:
        with pytest.raises(StoreBusy):
            vault.init_vault(path, key=KEY)
        memory.remember("coffee")
    assert set(kept(path)) == {"tea", "coffee"}


def test_a_clear_file_in_the_place_of_a_vault_is_refused(path: str) -> None:
    keep(path, "tea")
    clear = Path(path).read_bytes()
    vault.init_vault(path, passphrase="correct horse")
    Path(path).write_bytes(clear)

    for key in (None, "correct horse"):
        with pytest.raises(VaultRefused):
            Engram.open(path, key=key)


def test_the_keychain_holds_a_key_until_it_is_locked(path: str, keychain: Keychain) -> None:
    keep(path, "tea")
    assert "keychain" in vault.init_vault(path)
    assert kept(path) == ["tea"]
    with pytest.raises(VaultRefused):  # it is the only copy
        vault.lock_vault(path)

    key = vault.export_key(path)
    vault.rotate_vault(path, passphrase="correct horse")
    assert keychain.kept == {}
    with pytest.raises(KeyNeeded):
        kept(path, key)
    vault.unlock_vault(path, "correct horse")
    assert kept(path) == ["tea"]
    assert vault.vault_status(path).unlocked
    assert vault.lock_vault(path)
    with pytest.raises(KeyNeeded):
        kept(path)


@pytest.mark.slow
def test_without_a_keychain_the_session_holds_it(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(path, "tea", "correct horse")
    with pytest.raises(NoKeychain):
        vault.unlock_vault(path, "correct horse")

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    vault.unlock_vault(path, "correct horse")
    assert kept(path) == ["tea"]
    (held,) = (tmp_path / "engram").iterdir()
    assert held.stat().st_mode & 0o777 == 0o600
    assert vault.lock_vault(path)
    assert not list((tmp_path / "engram").iterdir())


def test_a_sleeping_session_outlives_another_key(path: str) -> None:
    with Engram.open(path, embedder=HashEmbedder()) as memory:
        session = memory.session(id="s1")
        session.turn("I moved to Bremen with Anna").begin()
        session.suspend()
    vault.init_vault(path, key=KEY)
    vault.rotate_vault(path, key=KEY, new_key=OTHER)

    with Engram.open(path, key=OTHER, embedder=HashEmbedder()) as memory:
        assert memory.session(id="s1").info().restored != "fresh"


def test_the_length_tells_little(path: str) -> None:
    keep(path, "tea", KEY)
    first = Path(path).stat().st_size
    for number in range(20):
        keep(path, f"note {number}", KEY)

    assert first % (512 * 1024) == Path(path).stat().st_size % (512 * 1024) == 0
    with Engram.open(path, key=KEY, embedder=HashEmbedder()) as memory:
        copy = Path(memory.backups.make().file)
        assert copy.stat().st_size % (512 * 1024) == 0
        assert all(one.ok for one in [*memory.doctor(), *memory.backups.check()])
        memory.vacuum()
        assert memory.count() == 21


def test_copies_in_clear_go_when_the_file_becomes_a_vault(path: str) -> None:
    with Engram.open(path, embedder=HashEmbedder()) as memory:
        memory.remember("the word is marmalade")
        memory.backups.make()
    Path(f"{path}.replaced-20260101T000000000000Z").write_bytes(Path(path).read_bytes())

    vault.init_vault(path, key=KEY)

    left = b"".join(one.read_bytes() for one in Path(path).parent.rglob("*") if one.is_file())
    assert b"marmalade" not in left
