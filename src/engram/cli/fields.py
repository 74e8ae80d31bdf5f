"""The options that several commands share: the fields of a memory, and the filters of a search."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import click

from engram.cli.options import together
from engram.cli.values import Pair, When, one_of, split
from engram.model.axes import CATEGORIES, Kind, Layer, Policy, Priority, Status, Tier, Type, Verification
from engram.model.filters import Filters
from engram.model.plain import member

field_options = together(
    click.option(
        "-c", "--category", metavar="NAME", help=f"{', '.join(CATEGORIES[:4])} … or a name of your own."
    ),
    click.option("-k", "--kind", type=one_of(Kind), help="Which store it belongs to."),
    click.option("--type", type=one_of(Type), help="What sort of statement it is."),
    click.option(
        "-t",
        "--tag",
        "--tags",
        "tags",
        multiple=True,
        metavar="TAG",
        help="Repeat it, or separate with commas.",
    ),
    click.option(
        "--detail",
        "details",
        type=Pair(),
        multiple=True,
        metavar="NAME=VALUE",
        help="Anything else worth keeping.",
    ),
    click.option("--importance", type=float, metavar="0..1", help="How much it matters."),
    click.option("--confidence", type=float, metavar="0..1", help="How sure it is."),
    click.option("--priority", type=one_of(Priority), help="How long it keeps its place in a summary."),
    click.option("--policy", type=one_of(Policy), help="What forgetting may do with it."),
    click.option("--tier", type=one_of(Tier), help="How secret it is."),
    click.option("--at", "event_time", type=When(), help="When it happened."),
    click.option("--valid-from", type=When(), help="Since when it holds."),
    click.option("--valid-to", type=When(ahead=True), help="Until when it holds."),
    click.option("--expires", "expires_at", type=When(ahead=True), help="When it goes by itself."),
)

SENTIMENTS = ("positive", "negative", "mixed", "neutral")

filter_options = together(
    click.option(
        "-k", "--kind", "kinds", type=one_of(Kind), multiple=True, help="Only this kind; may be repeated."
    ),
    click.option("-c", "--category", "categories", multiple=True, metavar="NAME", help="Only this category."),
    click.option("--type", "types", type=one_of(Type), multiple=True, help="Only this type."),
    click.option("--layer", "layers", type=one_of(Layer), multiple=True, help="Only this layer."),
    click.option("--status", "statuses", type=one_of(Status), multiple=True, help="Only this status."),
    click.option(
        "--verification",
        "verifications",
        type=one_of(Verification),
        multiple=True,
        help="Only vouched for so.",
    ),
    click.option("--tier", "tiers", type=one_of(Tier), multiple=True, help="Only this secret."),
    click.option("--priority", "priorities", type=one_of(Priority), multiple=True, help="Only this one."),
    click.option(
        "-t",
        "--tag",
        "--tags",
        "tags_any",
        multiple=True,
        metavar="TAG",
        help="With at least one of these tags.",
    ),
    click.option(
        "--all-tags", "tags_all", multiple=True, metavar="TAG", help="With every one of these tags."
    ),
    click.option("--not-tag", "not_tags", multiple=True, metavar="TAG", help="With none of these tags."),
    click.option("--entity", "entities", multiple=True, metavar="NAME", help="That mentions this name."),
    click.option("--speaker", "speakers", multiple=True, metavar="NAME", help="Said by this speaker."),
    click.option("--source", "sources", multiple=True, metavar="NAME", help="From this source."),
    click.option("--session", default="", metavar="NAME", help="Out of this session."),
    click.option("--since", "created_since", type=When(), help="Stored since then (2026-03-01, 7d)."),
    click.option("--until", "created_until", type=When(), help="Stored until then."),
    click.option("--happened-since", type=When(), help="Happened since then."),
    click.option("--happened-until", type=When(), help="Happened until then."),
    click.option("--accessed-since", type=When(), help="Used since then."),
    click.option("--accessed-until", type=When(), help="Used last until then."),
    click.option("--modified-since", type=When(), help="Changed since then."),
    click.option("--modified-until", type=When(), help="Changed last until then."),
    click.option("--as-of", type=When(), help="What was believed then, in the words of that time."),
    click.option("--person", "people", multiple=True, metavar="NAME", help="That speaks of this person."),
    click.option("--technology", "technologies", multiple=True, metavar="NAME", help="That names it."),
    click.option("--path", "paths", multiple=True, metavar="PATH", help="With a path that begins so."),
    click.option("--url", "urls", multiple=True, metavar="URL", help="With an address that begins so."),
    click.option("--topic", "topics", multiple=True, metavar="NAME", help="About this topic."),
    click.option("--language", "languages", multiple=True, metavar="CODE", help="In this language (en, zh)."),
    click.option(
        "--code-language", "code_languages", multiple=True, metavar="NAME", help="With code of this language."
    ),
    click.option(
        "--sentiment",
        "sentiments",
        type=click.Choice(SENTIMENTS),
        multiple=True,
        help="Only what feels so.",
    ),
    click.option("--about-since", type=When(), help="That speaks of a day since then."),
    click.option("--about-until", type=When(), help="That speaks of a day until then."),
    click.option(
        "--detail", "details", type=Pair(), multiple=True, metavar="NAME=VALUE", help="With this detail."
    ),
    click.option(
        "--origin", "origin_prefix", default="", metavar="TEXT", help="Imported from what begins so."
    ),
    click.option("--id", "ids", multiple=True, metavar="ID", help="Only these, by their full ids."),
    click.option(
        "--min-trust", type=float, default=0.0, metavar="0..1", help="From a source trusted so far."
    ),
    click.option(
        "--min-arousal", type=float, default=0.0, metavar="0..1", help="That stirs at least so much."
    ),
    click.option("--max-importance", type=float, default=1.0, metavar="0..1", help="At most so important."),
    click.option("--min-importance", type=float, default=0.0, metavar="0..1", help="At least so important."),
    click.option("--min-confidence", type=float, default=0.0, metavar="0..1", help="At least so sure."),
    click.option("--pinned/--not-pinned", default=None, help="Only pinned ones, or only others."),
)

_AXES: dict[str, type[Enum]] = {
    "kinds": Kind,
    "types": Type,
    "layers": Layer,
    "statuses": Status,
    "verifications": Verification,
    "tiers": Tier,
    "priorities": Priority,
}
_NAMES = (
    "categories", "tags_any", "tags_all", "not_tags", "entities", "speakers", "sources", "people",
    "technologies", "paths", "urls", "topics", "languages", "code_languages", "sentiments", "ids",
)  # fmt: skip
_PLAIN = (
    "session", "created_since", "created_until", "happened_since", "happened_until", "accessed_since",
    "accessed_until", "modified_since", "modified_until", "about_since", "about_until", "as_of",
    "origin_prefix", "min_importance", "max_importance", "min_confidence", "min_trust", "min_arousal",
    "pinned",
)  # fmt: skip


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were named on the command line; the rest is left to the engine."""
    kept = {name: value for name, value in values.items() if value not in (None, "", ())}
    if "tags" in kept:
        kept["tags"] = split(kept["tags"])
    if "details" in kept:
        kept["details"] = dict(kept["details"])
    return kept


def filters_from(values: dict[str, Any]) -> Filters:
    """The filters that were named. Takes their options out of `values`."""
    asked: dict[str, Any] = {name: values.pop(name) for name in _PLAIN}
    for name in _NAMES:
        asked[name] = frozenset(split(values.pop(name)))
    for name, axis in _AXES.items():
        asked[name] = frozenset(member(name, axis, word) for word in values.pop(name))
    asked["details"] = dict(values.pop("details"))
    if not asked["statuses"]:
        del asked["statuses"]
    return Filters(**asked)
