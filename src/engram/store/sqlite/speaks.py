"""What memories speak of, carry along and came from, as clauses: filters come in, conditions come out.

Like `views`, which asks for them: each clause is written out, what it compares with is always bound. Plain
clauses find rows by an index; those that begin with ITSELF look at a row that is at hand.
"""

from __future__ import annotations

from typing import Any

from engram.model.filters import Filters
from engram.store.sqlite.records import as_list, to_json
from engram.text import facets

# What memories speak of. The words in braces are put in by `_facet_clauses`, from the names of the facets.
SPEAKS_OF = """m.row IN (
      SELECT row
      FROM facets
      WHERE facet = '{facet}'
        AND value IN (SELECT value FROM json_each(:{filter}))
    )"""
ITSELF_SPEAKS_OF = """EXISTS (
      SELECT 1
      FROM facets AS t
      WHERE t.row = m.row
        AND t.facet = '{facet}'
        AND t.value IN (SELECT value FROM json_each(:{filter}))
    )"""
SPEAKS_OF_BEGINNING = """m.row IN (
      SELECT t.row
      FROM json_each(:{filter}) AS j
      CROSS JOIN facets AS t
        ON t.facet = '{facet}' AND t.value >= j.value AND t.value < j.value || char(1114111)
    )"""
ITSELF_SPEAKS_OF_BEGINNING = """EXISTS (
      SELECT 1
      FROM facets AS t
      CROSS JOIN json_each(:{filter}) AS j
      WHERE t.row = m.row
        AND t.facet = '{facet}'
        AND t.value >= j.value
        AND t.value < j.value || char(1114111)
    )"""
SPEAKS_OF_DAY = """m.row IN (
      SELECT row
      FROM facets
      WHERE facet = 'dates'
        AND value BETWEEN :about_since AND :about_until
    )"""
ITSELF_SPEAKS_OF_DAY = """EXISTS (
      SELECT 1
      FROM facets AS t
      WHERE t.row = m.row
        AND t.facet = 'dates'
        AND t.value BETWEEN :about_since AND :about_until
    )"""
MAYBE_NEUTRAL = """coalesce(m.metadata ->> 'sentiment', 'neutral') IN (
      SELECT value FROM json_each(:sentiments)
    )"""

FROM_ORIGIN = """m.row IN (
      SELECT o.row
      FROM scopes AS s
      CROSS JOIN origins AS o
        ON o.scope = s.id AND o.origin >= :origin_prefix AND o.origin < :origin_prefix || char(1114111)
    )"""
ITSELF_FROM_ORIGIN = """EXISTS (
      SELECT 1
      FROM origins AS o
      WHERE o.row = m.row
        AND o.origin >= :origin_prefix
        AND o.origin < :origin_prefix || char(1114111)
    )"""

HAS_DETAILS = """NOT EXISTS (
      SELECT 1
      FROM json_each(:details) AS w
      WHERE NOT EXISTS (
        SELECT 1
        FROM json_each(m.details) AS d
        WHERE d.key = w.key
          AND CASE w.type
            WHEN 'text' THEN
              (d.type = 'text' AND d.atom = w.atom)
              OR (d.type = 'integer' AND CAST(d.atom AS TEXT) = w.atom)
              OR (d.type IN ('true', 'false') AND d.type = w.atom)
            WHEN 'integer' THEN d.type IN ('integer', 'real') AND d.atom = w.atom
            WHEN 'real' THEN d.type IN ('integer', 'real') AND d.atom = w.atom
            ELSE d.type = w.type
          END
      )
    )"""


def _facet_clauses(equal: str, beginning: str) -> dict[str, str]:
    wording = {name: (equal, name) for name in facets.EQUAL} | {"sentiments": (equal, facets.SENTIMENT)}
    wording |= {name: (beginning, name) for name in facets.BEGINNING}
    return {
        name: clause.replace("{facet}", facet).replace("{filter}", name)
        for name, (clause, facet) in wording.items()
    }


# By whether the rows are at hand.
FACET_CLAUSES = {
    False: _facet_clauses(SPEAKS_OF, SPEAKS_OF_BEGINNING),
    True: _facet_clauses(ITSELF_SPEAKS_OF, ITSELF_SPEAKS_OF_BEGINNING),
}


def clauses(filters: Filters, found: list[str], values: dict[str, Any], *, at_hand: bool) -> None:
    """Add what is asked of a memory `m`, and the values it is compared with."""
    _facets(filters, found, values, at_hand=at_hand)
    _rest(filters, found, values, at_hand=at_hand)


def _facets(filters: Filters, found: list[str], values: dict[str, Any], *, at_hand: bool) -> None:
    for name, wording in FACET_CLAUSES[at_hand].items():
        wanted = getattr(filters, name)
        if wanted:
            found.append(MAYBE_NEUTRAL if name == "sentiments" and facets.NEUTRAL in wanted else wording)
            values[name] = as_list({facets.asked(name, one) for one in wanted})
    if filters.about_since or filters.about_until:
        found.append(ITSELF_SPEAKS_OF_DAY if at_hand else SPEAKS_OF_DAY)
        values["about_since"], values["about_until"] = facets.days(filters)


def _rest(filters: Filters, found: list[str], values: dict[str, Any], *, at_hand: bool) -> None:
    if filters.origin_prefix:
        found.append(ITSELF_FROM_ORIGIN if at_hand else FROM_ORIGIN)
        values["origin_prefix"] = filters.origin_prefix
    if filters.details:
        found.append(HAS_DETAILS)
        values["details"] = to_json(dict(filters.details))
