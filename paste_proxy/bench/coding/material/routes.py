"""Shortest ways."""

import heapq

SEED = 1
REVISION = 0
Graph = dict[int, dict[int, int]]


def shortest(graph: Graph, start: int) -> dict[int, int]:
    """The distance of everything that can be reached (Dijkstra)."""
    known, waiting = dict[int, int](), [(0, start)]
    while waiting:
        far, place = heapq.heappop(waiting)
        if place not in known:
            known[place] = far
            for to, length in graph.get(place, {}).items():
                heapq.heappush(waiting, (far + length, to))
    return known


def all_pairs(graph: Graph) -> dict[tuple[int, int], int]:
    """The distance between any two (Floyd and Warshall)."""
    known = {(place, to): length for place, ways in graph.items() for to, length in ways.items()}
    known |= {(place, place): 0 for place in graph}
    for via in graph:
        for place in graph:
            if (first := known.get((place, via))) is not None:
                for to in graph:
                    if (second := known.get((via, to))) is not None:
                        known[place, to] = min(first + second, known.get((place, to), 1 << 60))
    return known
