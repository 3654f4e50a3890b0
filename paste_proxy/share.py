"""The policies, patterns and traces that the package carries."""

from pathlib import Path

from paste_proxy.errors import InputFault

_HERE = Path(__file__).parent
KINDS = {
    "policies": ("policies", (".toml",)),
    "patterns": ("patterns", (".json", ".toml")),
    "backgrounds": ("patterns", (".weights",)),
}
"""What can be named `builtin:STEM`: its folder, and how its files end."""


def share(kind: str) -> Path:
    """The folder of `policies`, `patterns` or `traces`: inside an installed wheel, or beside a checkout."""
    packed = _HERE / "share" / kind
    return packed if packed.is_dir() else _HERE.parent / kind


def find(kind: str, name: str) -> Path:
    """The file that `name` means: a path, or `builtin:STEM` for one the package carries.

    Args:
        kind: one of `KINDS`.

    Raises:
        InputFault: there is no such builtin of that kind.
    """
    if not name.startswith("builtin:"):
        return Path(name)
    carried = _carried(kind)
    path = carried.get(name.removeprefix("builtin:"))
    if path is None:
        raise InputFault(name, f"none of the {kind} in the package", f"one of builtin:{{{','.join(carried)}}}")
    return path


def _carried(kind: str) -> dict[str, Path]:
    """The files of a kind by their stems, in order."""
    folder, endings = KINDS[kind]
    files = sorted(path for path in share(folder).iterdir() if path.suffix in endings)
    return {path.stem: path for path in files}
