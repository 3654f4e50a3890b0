"""The policies, patterns and traces that the package carries."""

from pathlib import Path

from paste_proxy.errors import InputFault

_HERE = Path(__file__).parent


def share(kind: str) -> Path:
    """The folder of `policies`, `patterns` or `traces`: inside an installed wheel, or beside a checkout."""
    packed = _HERE / "share" / kind
    return packed if packed.is_dir() else _HERE.parent / kind


def find(kind: str, name: str) -> Path:
    """The file that `name` means: a path, or `builtin:STEM` for one the package carries.

    Raises:
        InputFault: there is no such builtin.
    """
    if not name.startswith("builtin:"):
        return Path(name)
    stem = name.removeprefix("builtin:")
    matches = sorted(path for path in share(kind).glob(f"{stem}.*") if path.suffix != ".md")
    if not matches:
        carried = sorted({path.name.partition(".")[0] for path in share(kind).iterdir() if path.suffix != ".md"})
        raise InputFault(name, "no such file in the package", f"one of builtin:{{{','.join(carried)}}}")
    return matches[0]
