"""Paths as they are written within a checkout: of `/home/me/app/src/api/db.ts` the file `src/api/db.ts`, its folder
`src/api`.

Two forms say so by the name of the folder that they start from: `below:app` and `folder:app`.
"""

from paste_proxy.events.values import Json

BELOW, FOLDER = "below:", "folder:"
_LONGEST = 300


def is_relative(form: str) -> bool:
    """Whether a form is one of these and names a folder."""
    name = form.removeprefix(BELOW if form.startswith(BELOW) else FOLDER)
    return name not in ("", form) and "/" not in name


def relative(form: str, path: Json) -> Json:
    """What a form makes of an absolute path; None where the path leads through no such folder."""
    if not isinstance(path, str) or not path.startswith("/") or len(path) > _LONGEST:
        return None
    kind, _, name = form.partition(":")
    within = path.partition(f"/{name}/")[2]
    return (within if f"{kind}:" == BELOW else within.rpartition("/")[0]) or None


def relative_between(path: Json, wanted: str) -> str | None:
    """The form that makes `wanted` of a path, None if neither does."""
    if not isinstance(path, str) or not path.startswith("/"):
        return None
    for kind, whole in ((BELOW, path), (FOLDER, path.rpartition("/")[0])):
        if whole.endswith(f"/{wanted}"):
            form = kind + whole.removesuffix(f"/{wanted}").rpartition("/")[2]
            if is_relative(form) and relative(form, path) == wanted:
                return form
    return None
