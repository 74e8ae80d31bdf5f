"""What is kept word for word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.forms import LONGEST, MOST, verbatim
from tests.tables import every


@every(
    ("text", "expected"),
    [
        ('He said "never again" and left', ["never again"]),
        ("She said “on Friday”, he said 'I quit'", ["on Friday", "I quit"]),
        ("他说「明天再来」，她说“好的呀”", ["明天再来", "好的呀"]),
        ("It's Anna's dog and the boys' room", []),
        ("Call `os.path.join(a, b)` first", ["os.path.join(a, b)"]),
        ("```sh\nmake test\n```", ["make test"]),
        ("use git push --force origin main to publish", ["git push --force origin main"]),
        (
            "docker compose up -d\nsudo systemctl restart nginx",
            ["docker compose up -d", "sudo systemctl restart nginx"],
        ),
        ("$ rm -rf build && make", ["rm -rf build && make"]),
        ("we ran out of memory: git is slow", []),
        ("I go home and make dinner", []),
        (
            "TypeError: cannot read property 'x' of undefined. No idea why",
            ["TypeError: cannot read property 'x' of undefined"],
        ),
        ("it ends with exit code 137", ["exit code 137"]),
        ("error: no space left on device", ["error: no space left on device"]),
        ("错误代码 500：服务器内部错误。", ["错误代码 500：服务器内部错误"]),
        ("ECONNREFUSED and E2001", ["ECONNREFUSED", "E2001"]),
        ("see https://a.example/b?c=1, or www.b.example.", ["https://a.example/b?c=1", "www.b.example"]),
        ("write to a.b@c.example", ["a.b@c.example"]),
        ("edit ~/.config/app.toml and src/main.rs", ["~/.config/app.toml", "src/main.rs"]),
        (r"C:\Users\anna\x.txt is gone", [r"C:\Users\anna\x.txt"]),
        ("and/or, 24/7, TCP/IP", []),
        ("we run v2.1 and 3.11.4-rc1", ["v2.1", "3.11.4-rc1"]),
        ("it took 2.5 GB, 30 ms and $1,200", ["2.5 GB", "30 ms", "$1,200"]),
        ("花了30分钟和500元", ["30分钟", "500元"]),
        ("5 in the morning, 3 apples", []),
        ("She likes tea", []),
        ("", []),
    ],
)
def test_what_no_summary_may_change_is_found(text: str, expected: list[str]) -> None:
    assert list(verbatim(text)) == expected


def test_the_outer_part_holds_the_inner_ones() -> None:
    assert verbatim('He wrote "use `make` on v1.2.3 in 5 minutes"') == ("use `make` on v1.2.3 in 5 minutes",)


def test_there_are_not_too_many_and_none_is_too_long() -> None:
    found = verbatim(" ".join(f"{number} GB" for number in range(40)) + f' "{"x" * 300}"')

    assert len(found) == MOST
    assert len(verbatim(f'"{"x" * 300}"')[0]) == LONGEST


@given(
    st.text(st.characters(exclude_categories=()), max_size=120)
    | st.text("`\"'“”「」$:/\\.@ aE5v%\n", max_size=120)
)
def test_every_part_stands_in_the_text(text: str) -> None:
    found = verbatim(text)

    assert len(found) <= MOST
    assert all(part in text and 0 < len(part) <= LONGEST for part in found)
