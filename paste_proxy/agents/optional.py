"""Packages that a wrapper needs and the sidecar does not."""

from importlib import import_module
from typing import Any


def package(module: str, *, of: str, wanted_by: str) -> Any:
    """A module of a package that may not be installed.

    Args:
        of: the package's name, as pip knows it.
        wanted_by: the module that cannot do without.

    Raises:
        ImportError: it is not installed; says what to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is None or not f"{module}.".startswith(f"{fault.name}."):
            raise
        raise ImportError(
            f"{wanted_by} needs the package {of}, which is not installed here: pip install {of}"
        ) from fault
