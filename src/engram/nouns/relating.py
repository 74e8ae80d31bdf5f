"""Relations: two memories and what one is to the other come in; the edge stands in the file."""

from __future__ import annotations

from engram.capture import screen
from engram.errors import InvalidInput
from engram.model.plain import member
from engram.model.relations import Edge, EdgeType
from engram.nouns.desk import Desk
from engram.ports import Unit


def relate(
    desk: Desk, ends: tuple[str, str], edge_type: EdgeType | str, weight: float, confidence: float
) -> Edge:
    """Draw an edge between two memories that the caller may change."""
    screen.share("weight", weight)
    screen.share("confidence", confidence)
    kind: EdgeType = member("type", EdgeType, edge_type)
    edge = Edge(desk.own(ends[0]), desk.own(ends[1]), kind, weight, confidence, origin=desk.actor)
    if edge.source == edge.target:
        message = "A memory cannot be related to itself."
        raise InvalidInput(message)

    def work(unit: Unit) -> None:
        unit.relate(edge, because="")

    desk.tools.store.write(work, desk.actor)
    return edge


def unrelate(desk: Desk, ends: tuple[str, str], edge_type: EdgeType | str) -> bool:
    """Take an edge away; whether there was one."""
    source, target = (desk.own(end) for end in ends)
    kind: EdgeType = member("type", EdgeType, edge_type)
    return desk.tools.store.write(lambda unit: unit.unrelate(source, target, kind, because=""), desk.actor)


def relations(desk: Desk, memory_id: str) -> list[Edge]:
    """Edges from and to a memory."""
    return desk.tools.store.relations.of(desk.resolve(memory_id), desk.access)
