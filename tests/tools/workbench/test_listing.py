"""`list` and `glob`: what there is."""

import os

from tests.tools.workbench.bench import Bench


async def test_a_folder_is_listed_by_name_and_what_is_ignored_is_counted(bench: Bench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "b.log").write_text("")
    (bench.root / "a.txt").write_text("12345")
    (bench.root / ".gitignore").write_text("*.log\n")
    (bench.root / "link").symlink_to("a.txt")
    (bench.root / ".git").mkdir()
    said = [".gitignore (6 bytes)", "a.txt (5 bytes)", "link -> a.txt", "src/"]
    assert (await bench.ask("list")).split("\n") == [
        *said,
        "[1 left out by .gitignore; list with ignored = true to see them]",
    ]
    assert (await bench.ask("list", ignored=True)).split("\n") == sorted([*said, "b.log (0 bytes)"])
    assert await bench.ask("list", path="src") == "[the folder is empty]"
    assert "is a file, not a folder" in await bench.fails("list", path="a.txt")
    assert "is a folder; list it" in await bench.fails("read", path="src")


async def test_a_name_that_is_no_utf_8_is_shown(bench: Bench) -> None:
    with open(os.fsencode(bench.root) + b"/caf\xe9", "w") as file:  # noqa: PTH123, ASYNC230 - a Path is text
        file.write("needle\n")
    assert "caf\\udce9 (7 bytes)" in await bench.ask("list")
    assert await bench.ask("glob", pattern="caf*") == "caf\\udce9"
    assert await bench.ask("grep", pattern="needle", output="files") == "caf\\udce9"


async def test_files_are_found_latest_changed_first(bench: Bench) -> None:
    (bench.root / "x" / "y").mkdir(parents=True)
    for at, name in enumerate(["old.py", "x/new.py", "x/y/newer.py", "x/other.js"]):
        (bench.root / name).write_text("")
        os.utime(bench.root / name, (at, at))
    assert await bench.ask("glob", pattern="*.py") == "x/y/newer.py\nx/new.py\nold.py"
    assert await bench.ask("glob", pattern="*.{py,js}", path="x") == "x/other.js\nx/y/newer.py\nx/new.py"
    assert await bench.ask("glob", pattern="/*.py", path="x") == "x/new.py"
    assert await bench.ask("glob", pattern="*.rs") == "[no file is named *.rs]"
    assert "too many alternatives" in await bench.fails("glob", pattern="{a,b}" * 20)


async def test_many_files_are_bounded(bench: Bench) -> None:
    for number in range(1_100):
        (bench.root / f"f{number:04}").touch()
    found = (await bench.ask("glob", pattern="f*")).split("\n")
    assert (len(found), found[-1]) == (201, "[900 more, changed before these; narrow the glob or name a path]")
    listed = (await bench.ask("list")).split("\n")
    assert (len(listed), listed[-1]) == (1_001, "[100 more; find them by name with glob]")
