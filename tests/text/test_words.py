from __future__ import annotations

import unicodedata

import apsw
from hypothesis import example, given
from hypothesis import strategies as st

from engram.text.words import (
    SINGLE,
    content_hash,
    content_words,
    encode,
    normalized,
    query_terms,
    terms,
    weight,
)
from tests.tables import every

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)  # lone surrogates included


@every(
    ("text", "expected"),
    [
        ("Running runs", ["run", "run"]),
        ("The apples of my eye", ["appl", "eye"]),
        ("auth.ts", ["auth.ts", "auth", "ts"]),
        ("C++", ["c++"]),
        ("c#", ["c#"]),
        ("C++17", ["c++", "17"]),
        ("rm -rf", ["rm", "-rf", "rf"]),
        ("--force", ["--force", "forc"]),
        (".env", [".env", "env"]),
        ("v2.1", ["v2.1", "2.1", "v2", "2", "1"]),
        ("user_id", ["user_id", "user", "id"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("foo/bar.py", ["foo/bar.py", "bar.py", "foo", "bar", "py"]),
        ("__init__.py", ["__init__.py", "init", "py"]),
        ("_word_", ["word"]),
        ("@handle", ["@handle", "handl"]),
        ("#123", ["#123", "123"]),
        ("192.168.0.1", ["192.168.0.1", "192", "168", "0", "1"]),
        ("bob@example.com", ["bob@example.com", "bob", "exampl", "com"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("3,000 3000", ["3000", "3000"]),
        ("2023", ["2023"]),
        ("3.14", ["3.14"]),
        ("2023-05-08", ["2023-05-08", "2023", "5", "8"]),
        ("8th", ["8th", "8"]),
        ("GPT-4 GPT4", ["gpt4", "gpt", "4", "gpt4", "gpt", "4"]),
        ("e-mail email", ["email", "mail", "email"]),
        ("Anna's O'Brien don't", ["anna", "obrien", "brien"]),
        ("U.S. US us", ["us", "us"]),
        ("Crème brûlée", ["creme", "brule"]),
        ("Ｆｕｌｌｗｉｄｔｈ", ["fullwidth"]),
        ("Straße", ["strass"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Привет, мир", ["привет", "мир"]),
        ("ok 👍🏽 🇩🇪", ["👍", "🇩🇪"]),
        ("上海", ["上海", "_u上", "_u海"]),
        ("茶", ["_u茶"]),
        ("我用vim写代码", ["我用", "_u用", "vim", "写代", "_u写", "代码", "_u代", "_u码"]),
        ("ไทย", ["ไท", "_uไ", "ทย", "_uท", "_uย"]),
        ("", []),
        ("?! ... —", []),
        ("_", []),
    ],
)
def test_text_becomes_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == [term if term.startswith(SINGLE) else encode(term) for term in expected]


def test_an_address_is_found_whole_by_host_and_by_part() -> None:
    found = terms("see https://www.GitHub.com/foo/bar?x=1.")

    assert {encode("github.com/foo/bar?x=1"), encode("github.com"), "foo", "bar"} <= set(found)


@every("text", ["to be or not to be", "who am I", "the", "是的", "What is it?"])
def test_a_text_of_stop_words_keeps_them(text: str) -> None:
    assert terms(text)
    assert query_terms(text).weak


def test_a_question_has_each_term_once_and_its_phrases() -> None:
    query = query_terms('apples and "red apples" or “green tea”')

    assert query.terms == ("appl", "red", "green", "tea")
    assert query.phrases == (("red", "appl"), ("green", "tea"))
    assert not query.weak


def test_lone_characters_weigh_less_than_pairs() -> None:
    assert weight("_u茶") < weight("绿茶") == 1.0


def test_chinese_texts_compare_by_pairs() -> None:
    assert content_words("喝绿茶") == {"喝绿", "绿茶"}
    assert content_words("茶") == {"_u茶"}


@every(
    ("one", "other"),
    [
        ("Hello,  World!", "hello world"),
        ("It's 3,000.", "its 3000"),
        ("“Quoted” — text…", '"quoted" - text'),
        ("我住在上海。", "我住在上海"),
        ("*bold* word", "bold word"),
        ("Ｆｕｌｌ", "full"),
    ],
)
def test_two_spellings_of_one_statement_hash_alike(one: str, other: str) -> None:
    assert normalized(one) == normalized(other)
    assert content_hash(one) == content_hash(other)


@every(
    ("one", "other"),
    [
        ("I write C++", "I write C"),
        ("C#", "C++"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("It costs 3.5", "It costs 35"),
        ("Load .env", "Load env"),
        ("$5", "5%"),
        ("👍", "👎"),
        ("!", "?"),
        ("🇩🇪", "🇫🇷"),
        ("at 10:30", "at 1030"),
        ("हिन्दी", "हिन्दू"),
        ("มา", "มี"),
    ],
)
def test_symbols_that_change_the_meaning_change_the_hash(one: str, other: str) -> None:
    assert content_hash(one) != content_hash(other)


@given(ANY_TEXT)
@example("\ud800a")
def test_any_text_with_a_letter_or_digit_has_terms(text: str) -> None:
    found = terms(text)
    query = query_terms(text)

    assert list(query.terms) == list(dict.fromkeys(found))
    assert all(len(term.encode()) <= 64 for term in found)
    if any(unicodedata.category(char) in {"Lu", "Ll", "Lt", "Lo", "Nd"} for char in text):
        assert found


@given(ANY_TEXT)
def test_hashing_takes_any_text_and_is_stable_under_itself(text: str) -> None:
    assert len(content_hash(text)) == 64
    assert normalized(normalized(text)) == normalized(text)


@given(st.lists(ANY_TEXT, max_size=4))
def test_fts5_leaves_every_term_as_it_is(texts: list[str]) -> None:
    found = [term for text in texts for term in terms(text)]

    assert fts5_tokens(" ".join(found)) == found


def test_a_quoted_term_finds_its_row() -> None:
    connection = fts5()
    connection.execute(
        "insert into t(rowid, body) values (1, ?)", (" ".join(terms("rm -rf build/auth.ts 上海 👍 C++")),)
    )

    for query in ["-rf", "auth.ts", "上海", "海", "👍", "C++", "build"]:
        for term in query_terms(query).terms:
            rows = connection.execute("select rowid from t where t match ?", (f'"{term}"',))
            assert list(rows) == [(1,)], (query, term)


def fts5() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("""create virtual table t using fts5(body, tokenize = "ascii tokenchars '_'")""")
    connection.execute("create virtual table v using fts5vocab(t, instance)")
    return connection


def fts5_tokens(body: str) -> list[object]:
    connection = fts5()
    connection.execute("insert into t(body) values (?)", (body,))
    return [row[0] for row in connection.execute('select term from v order by "offset"')]
