"""Importing the package is quick and free of circles."""

import subprocess
import sys
from pathlib import Path

import pytest

import paste_proxy

PACKAGE = Path(paste_proxy.__file__).parent
HEAVY = ("aiohttp", "openai", "mcp", "numpy", "mlx", "ray", "multiprocessing.pool", "concurrent.futures.process")


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("statement", ["import paste_proxy", "import paste_proxy.cli.main"])
def test_neither_the_package_nor_its_command_line_loads_what_it_may_not_need(statement: str) -> None:
    assert not loaded_after(statement).intersection(HEAVY)


def test_the_sidecar_starts_without_the_optional_parts() -> None:
    loaded = loaded_after("import paste_proxy.proxy.composition")
    assert not loaded.intersection({"openai", "mcp", "mlx", "mlx_lm", "vllm", "ray", "valkey"})


def test_every_module_can_be_the_first_one_imported() -> None:
    modules = sorted(
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
        if path.name != "__main__.py" and "share" not in path.parts
    )
    script = f"""
import importlib, os, sys, typing, asyncio, aiohttp, pydantic, structlog, orjson, typer, rich, prometheus_client
broken = []
for module in {modules!r}:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(module)
        except BaseException as fault:
            print(module, repr(fault), flush=True)
            os._exit(1)
        os._exit(0)
    broken += [module] if os.waitpid(child, 0)[1] else []
sys.exit(1 if broken else 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
