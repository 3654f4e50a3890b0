"""Which command lines plainly have no effect, and that none of those taken for such has one."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.speculation.plainly_reading import only_reads, only_reads_quietly


def apart(text: str) -> list[str]:
    """The commands of a text, between them three spaces or a line's end."""
    return re.split(r" {3,}|\n", text.strip("\n"))


def words_of(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


READING = apart(r"""
rg -n 'def run' src   rg -g '*.py' --type py x src tests | head -20   ls | rg -v pyc   rg -A 3 -B3 x a
sed -n 1,20p a   sed -n '5p' a b   cat a | sed -n 10,20p   nl -ba a   tree -L 2 -I node_modules   tree
jq . a.json   jq -r '.a.b,.c' a.json   cat a.json | jq -c .a   diff a b   diff -ru a b | head -50
stat -c '%s %n' a   file -b a   which python git   basename a/b .py   dirname a/b   sha1sum a   pwd   echo done
echo 'a b' | wc -c   whoami   uname -a   diff a /dev/null   git status   git status -sb
git status --porcelain=v1 -uno   git -C sub status src   git diff   git diff --stat HEAD
git diff --cached -- a b   git diff -U5 main...HEAD | head -100   git log --oneline -5
git log -n 3 --stat -- src   git log --format=%H --since=2024-01-01   git log -p -1 a   git show HEAD:a
git show --stat   git show -s --pretty=format:%s   git blame -L 10,20 a   git branch   git branch -a
git branch --list 'a*'   git branch --show-current   git branch -vv   git tag   git tag -l 'v*'
git tag --list --sort=-creatordate   git remote -v   git remote get-url origin   git stash list
git stash show -p   git worktree list   git config --get user.name   git ls-files -m
git rev-parse --abbrev-ref HEAD   git rev-list --count HEAD   git merge-base main HEAD   git ls-tree -r HEAD
git cat-file -p HEAD   git describe --tags --always   git shortlog -sn HEAD   git grep -n x   git show-ref
""")
NOT_PLAINLY = apart(r"""
rg x   rg --pre cat x .   rg -z x a   rg -L x a   rg -f a b   rg -r y x a   rg --hostname-bin x x a
rg --search-zip x a   rg -uuu x a   rg --follow x a   rg -e x a   rg -g -x y a   rg --type-add x:y x a   sed 5d a
sed -i 5p a   sed -ni 5p a   sed -n -i 5p a   sed -n 5p -i a   sed --in-place 5p a   sed -n 5w a   sed -n 1e a
sed -n -f a b   sed -s 5w b   sed -n 5,10pw a   sed -n 1,5p   tree -o a   tree -ao a   tree -R   tree -l
tree -L2o a   tree --fromfile a   tree -H . -L 1 -R   jq now a   jq env a   jq .a,now a   jq -n input   jq -f a b
jq --arg a b . c   jq -L a . b   jq input a   jq '.a-now' a   jq   jq .   diff a   diff a b c   diff -l a b
diff --to-file=a b   diff - a   diff -o x a b   file -C   file -C -m a   file -m a b   file -z a   file -f a
file -s a   stat a   stat -c %x a   stat -c '%n %X' a   stat -f a   stat -L a   nl -s x a   which -s x   pwd x
echo x > a   date   env   uname x   whoami x   sha1sum -c a   basename   md5sum --check a   printf -v x a   tee a
xargs ls   cat /dev/tty   head /proc/kmsg   cat /sys/x   cat '/dev/input'   ls | cat /dev/stdin
sed -n 1p /dev/fd/3   cat //dev/kmsg   cat ///proc/kmsg
cat /tmp/../dev/tty | head   cat a/../../dev/tty   cat ../dev/tty   cat ..//./dev/tty   cat /./dev/tty
head -n 1 /tmp/link/../proc/kmsg   grep -r x /   rg x /   rg x //   grep -r x /tmp/..   git -C / diff dev/tty a
git -C /dev log   git -C /x -C ../dev status   git --no-pager -C //proc diff a b   git
git push   git fetch   git commit -m x   git add .   git checkout x   git stash
git stash pop   git branch x   git branch -d x   git branch -m a b   git branch -D x   git branch -l x
git branch -f x   git branch --list -d x   git branch -a x   git branch --edit-description
git branch -u origin/x   git tag x   git tag -d x   git tag -a x   git tag -l -d x   git tag -f x
git tag --list -m y x   git diff --output=a   git diff --outp=a   git diff --output a   git diff --ext-diff
git diff -O a   git log --output=a   git log --ext-diff   git log --textconv   git log --since=yesterday
git log --date=relative   git log --format=%ar   git log --pretty=format:%cr   git log --pretty=mine
git show --show-signature   git show --textconv   git grep -O x   git grep --open-files-in-pager x
git grep -Oless x   git grep -f a   git cat-file --batch   git cat-file --textconv a   git cat-file --filters a
git shortlog   git describe --dirty   git remote add a b   git remote update   git remote show origin
git remote -v update   git remote prune x   git config a b   git config --get-all a   git config --global a b
git config --unset a   git config -e   git stash show --textconv   git worktree add a   git reflog expire
git submodule update   git bisect start   git -c core.pager=x log   git --git-dir=x log   git --exec-path=x log
git -p log   git --paginate log   git status --no-such   git ls-files -x a   git rev-parse --git-path a b | sh
git log | git diff   git log; ls   git blame --contents a b   git blame -S a b   git diff -C -M --output=x
git log -1 --format=%GS   git log --format='%h %G?'   git show --pretty=format:%+GK   git log --pretty=%-ar
git log --pretty='tformat:%H% GG'   git branch --sort=signature   git tag --list --sort=-signature:grade
git for-each-ref --sort=signature:key   git log --format=%+cr   git log '--format=%h %GF' -1
git notes add   git gc   git --version x
""")


@pytest.mark.parametrize("command", READING)
def test_it_has_no_effect(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize("command", NOT_PLAINLY)
def test_it_is_not_plainly_so(command: str) -> None:
    assert not only_reads(command)


@pytest.mark.parametrize(
    ("command", "folder", "reads"),
    [
        ("cat kmsg | wc", "/dev", False),
        ("cat fd/0 | wc", "/proc/self", False),
        ("cat ../dev/kmsg", "/tmp", False),
        ("cat dev/kmsg", "/", False),
        ("cat dev/kmsg", "../..", False),
        ("ls", "//sys", False),
        ("grep -r x", "/", False),
        ("git diff dev/tty a", "/", False),
        ("git -C dev log", "/", False),
        ("cat dev/notes", "/home/a", True),
        ("cat a /dev/null", "/home/a", True),
        ("ls", "/", True),
        ("cat developer/a", "/", True),
    ],
)
def test_where_it_runs_counts(command: str, folder: str, reads: bool) -> None:
    assert only_reads(command, folder) is reads


PROGRAMS = ["git", "git", "git", "sed", "jq", "tree", "rg", "diff", "file", "stat -c", "nl", "echo"]
GIT = words_of(
    "status diff log show blame branch tag remote stash list config --get ls-files ls-tree rev-parse cat-file "
    "grep describe shortlog merge-base worktree reflog submodule diff-tree rev-list for-each-ref name-rev "
    "show-ref add "
)
WORDS = words_of(
    "a b HEAD new . -a -v -l -n -p -d -D -m -M -f -s -i -w -o out -O -u -r -R -c -e -C -t -z --list --output=out "
    "--output --stat --all --cached --textconv --ext-diff -- --get-all user.name x=y -1 1 5p 1,5p 1w out.txt . .a "
    "-nf -ni now --force --edit --show-current -L 1,2 --delete --create-reflog --merged --set-upstream-to=a "
    "origin get-url pop "
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(PROGRAMS),
    st.lists(st.sampled_from(GIT), max_size=2),
    st.lists(st.sampled_from(WORDS), max_size=4),
)
def test_whatever_is_taken_for_reading_leaves_everything_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, program: str, of_git: list[str], words: list[str]
) -> None:
    command = " ".join((program, *(of_git if program == "git" else ()), *words))
    if not only_reads(command):
        return
    folder = tmp_path_factory.getbasetemp() / "repository"
    if not folder.exists():
        repository(folder)
    before = tree(folder)
    run(command, folder)
    assert tree(folder) == before


@pytest.mark.parametrize("command", [one for one in READING if only_reads_quietly(one)])
def test_what_reads_quietly_renews_no_index_where_git_is_told_so(tmp_path: Path, command: str) -> None:
    repository(tmp_path / "r")
    os.utime(tmp_path / "r" / "a", (1, 1))
    before = tree(tmp_path / "r")
    run(command, tmp_path / "r")
    assert tree(tmp_path / "r") == before


@pytest.mark.parametrize(
    ("command", "quietly"),
    [
        ("git status", False),
        ("git log -p", True),
        ("git diff --cached", True),
        ("git diff a b --staged", True),
        ("git diff", False),
        ("git diff HEAD", False),
        ("git -C a --no-pager diff -- b", False),
        ("git --no-optional-locks diff", False),
        ("diff a b", True),
        ("git push", False),
        ("git", False),
    ],
)
def test_what_renews_the_index_is_not_quiet(command: str, quietly: bool) -> None:
    assert only_reads_quietly(command) is quietly


def repository(folder: Path) -> None:
    """A file that is as it was committed, and one that is not."""
    folder.mkdir()
    made = (
        "git init -q . && git config user.name t && git config user.email t@t && printf '{}' > a && echo b > b && "
        "git add . && git commit -qm one && git branch new && git tag v1 && echo c >> b"
    )
    assert run(made, folder).returncode == 0


def run(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": os.defpath, "HOME": str(folder.parent), "GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}
