"""How many dates in other people's sentences the resolver reads right.

Takes the folder with `datetime_english_dev.json` and `datetime_chinese_dev.json` (the test format of
Microsoft's Recognizers: an input, a reference time, the expected results with their values). A case counts
when it names a date or a range and every such result is found in overlapping text with one of its values:
a date by its day, a moment by its minute, a range by the days of its ends.

The data names a range's last part by its start (from May to July ends on 1 July) where `When.last` lies
after it (1 August), and what is "after 4 May" begins on 4 May; both ways of telling are taken as the same
unless --strict is given.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from engram.text.dates import dates
from engram.text.when.calendar import Grain, Length, TimeExpression, moved

WANTED = ("date", "daterange", "datetime", "datetimerange")


def main() -> None:
    """Read the cases, print the shares."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument(
        "--part", default="dev", help="which part of the data: dev, or what else the files are called"
    )
    arguments.add_argument("--wrong", action="store_true", help="list the cases that fail")
    arguments.add_argument(
        "--strict", action="store_true", help="take the ends of ranges as they are written"
    )
    options = arguments.parse_args()
    for language in ("english", "chinese"):
        cases = json.loads((options.folder / f"datetime_{language}_{options.part}.json").read_text("utf-8"))
        report(language, cases, wrong=options.wrong, strict=options.strict)


def report(language: str, cases: list[dict[str, Any]], *, wrong: bool, strict: bool) -> None:
    """Print the share of right cases and of right results by type."""
    whole: Counter[bool] = Counter()
    by_type: dict[str, Counter[bool]] = {name: Counter() for name in WANTED}
    took = []
    for case in cases:
        expected = [result for result in case["Results"] if _type(result) in WANTED and _values(result)]
        if not expected or "Context" not in case:
            continue
        now = datetime.fromisoformat(case["Context"]["ReferenceDateTime"])
        found = dates(case["Input"], now)
        took.append(min(_seconds(case["Input"], now) for _ in range(5)))
        right = [is_found(result, found, strict=strict) for result in expected]
        for result, good in zip(expected, right, strict=True):
            by_type[_type(result)][good] += 1
        whole[all(right)] += 1
        if wrong and not all(right):
            _show(case, expected, right, found)
    took.sort()
    print(f"{language}: {_share(whole)} of the cases; median {took[len(took) // 2] * 1e6:.0f} µs")
    for name, counts in by_type.items():
        print(f"  {name:14} {_share(counts)}")


def _seconds(text: str, now: datetime) -> float:
    """How long one reading takes, in processor time: others may be using the machine."""
    began = time.process_time()
    dates(text, now)
    return time.process_time() - began


def is_found(result: dict[str, Any], found: list[TimeExpression], *, strict: bool) -> bool:
    """Whether one of the expressions found has the place and a value of the expected result."""
    start, end = result["Start"], result["End"] + 1
    overlapping = [when for when in found if when.start < end and start < when.end]
    return any(
        _agrees(_type(result), value, when, strict=strict)
        for value in _values(result)
        for when in overlapping
    )


def _agrees(kind: str, value: dict[str, str], when: TimeExpression, *, strict: bool) -> bool:
    if kind in {"date", "datetime"}:
        if when.first is None:
            return False
        expected = _moment(value["value"])
        if kind == "date":
            return when.first.date() == expected.date()
        return when.first.replace(second=0, microsecond=0) == expected.replace(second=0)
    first, last = value.get("start"), value.get("end")
    return _same_end(when.first, first, when.grain, strict=strict) and _same_end(
        when.last, last, when.grain, strict=strict
    )


def _same_end(ours: datetime | None, theirs: str | None, grain: Grain, *, strict: bool) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    expected = _moment(theirs).date()
    if ours.date() == expected:
        return True
    short = grain in {Grain.SECOND, Grain.MINUTE, Grain.HOUR, Grain.PART}
    step = timedelta(seconds=1) if short else None
    told = ours - step if step else moved(ours, Length(1, grain), -1)
    return not strict and told.date() == expected


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written)


def _type(result: dict[str, Any]) -> str:
    return str(result.get("TypeName", "")).removeprefix("datetimeV2.")


def _values(result: dict[str, Any]) -> list[dict[str, str]]:
    values = (result.get("Resolution") or {}).get("values", [])
    return [value for value in values if value.get("value") != "not resolved"]


def _share(counts: Counter[bool]) -> str:
    total = counts.total()
    return f"{counts[True] / total:.3f} ({counts[True]}/{total})" if total else "none"


def _show(
    case: dict[str, Any], expected: list[dict[str, Any]], right: list[bool], found: list[TimeExpression]
) -> None:
    print(f"\n{case['Context']['ReferenceDateTime'][:16]} {case['Input'][:150]}")
    for result, good in zip(expected, right, strict=True):
        if not good:
            values = [
                value.get("value") or f"{value.get('start')} to {value.get('end')}"
                for value in _values(result)
            ]
            print(f"  wanted [{result['Text']}] {_type(result)} {values}")
    for when in found:
        print(f"  found  [{when.text}] {when.kind} {when.first} to {when.last} ({when.grain})")


if __name__ == "__main__":
    main()
