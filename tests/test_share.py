"""What the package carries, by kind: each is read as what it is offered for."""

import re

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.mining.background import parse_background
from paste_proxy.mining.storage import parse_pool
from paste_proxy.share import KINDS, find
from paste_proxy.speculation.policy import Policy

READ = {"policies": Policy.parse, "patterns": parse_pool, "backgrounds": parse_background}


@pytest.mark.parametrize("kind", KINDS)
def test_every_builtin_that_is_offered_is_of_the_kind(kind: str) -> None:
    with pytest.raises(InputFault, match="builtin:nothing: none of the") as fault:
        find(kind, "builtin:nothing")
    offered = re.fullmatch(r"one of builtin:\{(.+)\}", fault.value.expected)
    assert offered is not None
    for stem in offered[1].split(","):
        path = find(kind, f"builtin:{stem}")
        READ[kind](path.read_text("utf-8"), str(path))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("patterns", "background"),
        ("backgrounds", "coding"),
        ("policies", "README"),
        ("patterns", "*"),
        ("patterns", ""),
    ],
)
def test_a_builtin_of_another_kind_is_none(kind: str, name: str) -> None:
    with pytest.raises(InputFault, match=f"none of the {kind} in the package"):
        find(kind, f"builtin:{name}")
