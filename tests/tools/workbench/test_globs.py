"""What globs mean."""

import pytest

from paste_proxy.tools.workbench.globs import glob, globs


@pytest.mark.parametrize(
    ("pattern", "fit", "unfit"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "a.py/b"]),
        ("/*.py", ["a.py"], ["x/a.py"]),
        ("src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts", "x/src/a.ts", "src/a.tsx"]),
        ("**/test", ["test", "a/b/test"], ["a/test/b"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[!a]b", ["cb"], ["ab"]),
        ("x**y", ["xaby"], ["xa/by"]),
    ],
)
def test_a_glob_fits_whole_paths(pattern: str, fit: list[str], unfit: list[str]) -> None:
    meant = glob(pattern)
    assert [path for path in fit if not meant.fits(path)] == []
    assert [path for path in unfit if meant.fits(path)] == []


def test_braces_are_alternatives_one_inside_the_other() -> None:
    meant = globs("./src/*.{js,{t,j}sx}")
    found = [path for path in ("src/a.js", "src/a.tsx", "src/a.jsx", "src/a.ts") if any(g.fits(path) for g in meant)]
    assert found == ["src/a.js", "src/a.tsx", "src/a.jsx"]
    with pytest.raises(ValueError, match="too many"):
        globs("{a,b}" * 12)


def test_no_glob_takes_forever() -> None:
    """It would take years, if each star were tried with every end of every other."""
    assert not glob("*a" * 40 + "b").fits("a" * 250)
    assert not glob("**/" * 30 + "b").fits("/".join("a" * 200))
