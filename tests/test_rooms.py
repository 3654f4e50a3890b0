"""The import rules of the rooms: who may know whom."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paste_proxy

PACKAGE = Path(paste_proxy.__file__).parent
GROUND = {"events", "clock", "errors"}
PURE = {"events", "wire", "mining", "speculation", "turns", "planner", "weaver", "exspec"}
IO = {"tools", "staging", "engines", "speculators", "agents", "importers", "cluster"}
TOP = {"cli", "bench", "sim", "__main__"}
KNOWS_AIOHTTP = {"proxy", "tools", "engines", "agents", "bench", "testing"}
PARSERS = {"wire": {"pyjson5"}, "mining": {"numpy"}, "weaver": {"numpy", "sklearn"}}
"""What else a pure room stands on: computation only, like the rest of it."""
FREE_FILES = {"config", "config_fault", "config_values", "share", "testing", "text_file"}
MATERIAL = PACKAGE / "bench" / "coding" / "material"
"""What another project is made of, which is written out and never imported."""
ROOT = {"__init__", "__main__", "py", "clock", "errors", *FREE_FILES}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent != MATERIAL:
            yield path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "paste_proxy" and len(parts) > 1 else None


def breaches(room: str, module: str) -> str | None:
    """Why `room` may not import `module`, or None if it may."""
    outside = module.split(".")[0]
    target = room_of(module)
    if outside == "aiohttp" and room not in KNOWS_AIOHTTP:
        return "only the edges know aiohttp"
    if outside in {"mlx", "mlx_lm"} and room != "worker":
        return "only the worker knows mlx"
    if room in PURE | GROUND:
        if outside in {"asyncio", "socket", "threading", "subprocess", "time", "random"} and room != "clock":
            return "a pure room has no clock, randomness or I/O"
        allowed = {"paste_proxy", "orjson", "pydantic_core"} | PARSERS.get(room, set())
        if outside not in sys.stdlib_module_names | allowed:
            return "a pure room stands on the standard library"
    if target is None or target == room:
        return None
    if target in TOP and room not in TOP:
        return "nobody imports the top floor"
    if room in PURE | GROUND and target not in GROUND | ({"planner"} if room == "weaver" else set()):
        return "a pure room imports the ground and itself"
    if room in IO and target in {"proxy", "sim", "worker"}:
        return "backends and adapters stand below the proxy"
    return None


@pytest.mark.parametrize(("room", "path"), [pytest.param(r, p, id=str(p.relative_to(PACKAGE))) for r, p in modules()])
def test_a_module_imports_only_what_its_room_may(room: str, path: Path) -> None:
    found = [f"{module}: {why}" for module in imports(path) if (why := breaches(room, module))]
    assert not found, f"{path}: {found}"


@pytest.mark.parametrize(
    ("room", "module"),
    [
        ("mining", "paste_proxy.speculation.types"),
        ("events", "asyncio"),
        ("wire", "aiohttp"),
        ("tools", "paste_proxy.proxy.hub.hub"),
        ("proxy", "paste_proxy.bench.demo"),
        ("cli", "mlx"),
    ],
)
def test_the_rules_catch_a_breach(room: str, module: str) -> None:
    assert breaches(room, module)


def test_no_room_has_a_vague_name() -> None:
    vague = {"utils", "util", "helpers", "common", "manager", "service", "misc"}
    assert not [path for _, path in modules() if path.stem in vague]
