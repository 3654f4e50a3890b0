"""Commands of git that only read what is recorded and what lies beside it, and what they may be given.

Left out are options that write a file, run a program (a pager, a filter, a driver for diffs, one that checks
signatures), read standard input, or say how long ago something was. Some renew the index beside, for which they take
git's lock for a moment.
"""

import re
from collections.abc import Iterable, Mapping

from paste_proxy.speculation.plain_commands import Argv
from paste_proxy.speculation.program_options import ANY, MANY, NUMBER, Program

_Words = dict[str, re.Pattern[str] | None]


def _words(names: str) -> _Words:
    """Options without a value, as they are written."""
    return dict.fromkeys(names.split())


_FORMAT = re.compile(
    r"(?!.*%[-+ ]?(?:[ac][rh]|G))(?!.*%\(.*(?:relative|human|signature))"
    "(?:oneline|short|medium|full|fuller|raw|reference|email|t?format:.*|.*%.*)"
)
_SORT = re.compile(r"(?!.*signature)-?[\w:]+")
_LETTERS = re.compile(r"[A-Za-z*]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[\dT:. +Z-]*")
_SHOWN = {"--pretty": _FORMAT, "--format": _FORMAT, "--date": re.compile(r"short|iso|iso8601|iso-strict|rfc|raw|unix")}
_DIFF = _words(
    "-- --stat --numstat --shortstat --dirstat --summary --name-only --name-status --raw --patch --no-patch --cached"
    " --staged --no-color --color=never --no-ext-diff --no-textconv --no-renames --find-renames --find-copies --text"
    " --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --word-diff --minimal"
    " --patience --histogram --exit-code --quiet --check --compact-summary --merge-base --full-index --function-context"
)
_DIFF_VALUED = {"U": NUMBER, "S": ANY, "G": ANY}
_DIFF_LONG = {
    "--unified": NUMBER,
    "--diff-filter": _LETTERS,
    "--stat": re.compile(r"[\d,]+"),
    "--word-diff": re.compile("color|plain|porcelain|none"),
}
_LOG = _words(
    "--oneline --graph --all --branches --tags --remotes --decorate --no-decorate --first-parent --merges --no-merges"
    " --reverse --follow --abbrev-commit --no-abbrev-commit --topo-order --date-order --left-right --cherry-pick"
    " --no-walk --full-history --no-notes --pickaxe-regex --pickaxe-all"
)
_LOG_LONG = {
    **_DIFF_LONG,
    **_SHOWN,
    **dict.fromkeys(("--max-count", "--skip", "--abbrev"), NUMBER),
    **dict.fromkeys(("--since", "--until", "--after", "--before"), _DATE),
    **dict.fromkeys(("--author", "--committer", "--grep"), ANY),
    "--decorate": re.compile("short|full|auto|no"),
}
_LIST_LONG = {
    "--format": _FORMAT,
    "--sort": _SORT,
    **dict.fromkeys(("--contains", "--no-contains", "--merged", "--no-merged", "--points-at"), ANY),
}
_BRANCH = _words(
    "--list --all --remotes --verbose --show-current --merged --no-merged --no-color --color=never"
    " --no-column --ignore-case"
)
_ANY_NUMBER = range(MANY)
_GIT: Mapping[str, Program] = {
    "blame": Program(
        flags="celnpswMC", valued={"L": re.compile(r"\d{1,9},\+?\d{1,9}")}, words=_words("-- --porcelain --date=short")
    ),
    "branch": Program(flags="arv", words=_BRANCH, long=_LIST_LONG, source=range(1)),
    "cat-file": Program(flags="pts", words=_words("-e"), source=range(1, 3)),
    "describe": Program(words=_words("--tags --all --always --long --abbrev=0 --exact-match"), source=range(2)),
    "diff": Program(flags="abpswzRCMu", valued=_DIFF_VALUED, words=_DIFF, long=_DIFF_LONG, source=_ANY_NUMBER),
    "diff-tree": Program(flags="prstzM", words=_DIFF | _words("--no-commit-id --root"), source=range(1, MANY)),
    "for-each-ref": Program(long={**_LIST_LONG, "--count": NUMBER}, source=_ANY_NUMBER),
    "grep": Program(
        flags="cEFGhHiIlLnopPqvwWz",
        valued={**dict.fromkeys("ABC", NUMBER), "e": ANY},
        words=_words("-- --cached --untracked --name-only --count --heading --break --no-color --and --or --not"),
        source=_ANY_NUMBER,
    ),
    "log": Program(
        flags="abgipswzRCMuc",
        valued={**_DIFF_VALUED, "n": NUMBER, "L": re.compile(r"\d{1,9},\+?\d{1,9}:.+")},
        words=_DIFF | _LOG | _words("--author-date-order --walk-reflogs"),
        long=_LOG_LONG,
        number=True,
        source=_ANY_NUMBER,
    ),
    "ls-files": Program(
        flags="cdimoszt",
        words=_words("-- --cached --deleted --modified --others --ignored --stage --exclude-standard --full-name"),
        source=_ANY_NUMBER,
    ),
    "ls-tree": Program(
        flags="drtlz", words=_words("-- --name-only --name-status --full-name --full-tree"), source=range(1, MANY)
    ),
    "merge-base": Program(flags="a", words=_words("--all --is-ancestor --fork-point --octopus"), source=range(1, MANY)),
    "name-rev": Program(words=_words("--name-only --tags"), source=range(1, MANY)),
    "remote": Program(flags="v", words=_words("--verbose"), source=range(1)),
    "rev-list": Program(
        valued={"n": NUMBER},
        words=_words("-- --count --all --objects --left-right --first-parent --merges --no-merges --reverse"),
        long={"--max-count": NUMBER, **dict.fromkeys(("--since", "--until", "--after", "--before"), _DATE)},
        number=True,
        source=_ANY_NUMBER,
    ),
    "rev-parse": Program(
        words=_words(
            "-- --abbrev-ref --short --verify --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir"
            " --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --symbolic --quiet --all"
            " --symbolic-full-name --show-superproject-working-tree"
        ),
        flags="q",
        long={"--short": NUMBER},
        source=_ANY_NUMBER,
    ),
    "shortlog": Program(flags="sne", words=_words("--all --no-merges"), source=range(1, MANY)),  # else of its input
    "show": Program(
        flags="abpswzRCMu",
        valued=_DIFF_VALUED,
        words=_DIFF | _LOG,
        long={**_DIFF_LONG, **_SHOWN},
        source=_ANY_NUMBER,
    ),
    "show-ref": Program(flags="dq", words=_words("--heads --tags --head --verify"), source=_ANY_NUMBER),
    "status": Program(
        flags="sbvz",
        valued={"u": re.compile("no|normal|all")},
        words=_words(
            "-- -uno -uall --short --branch --long --verbose --porcelain --show-stash --ignored --no-renames"
            " --ahead-behind --no-ahead-behind"
        ),
        long={
            "--porcelain": re.compile("v1|v2"),
            "--untracked-files": re.compile("no|normal|all"),
            "--ignored": re.compile("traditional|no|matching"),
        },
        source=_ANY_NUMBER,
    ),
    "tag": Program(words=_words("--list"), long=_LIST_LONG, source=range(1)),
}
_LISTING = {
    "branch": Program(flags="arv", words=_BRANCH, long=_LIST_LONG, source=_ANY_NUMBER),
    "tag": Program(flags="n", words=_words("-l --list"), long=_LIST_LONG, source=_ANY_NUMBER),
}
"""Of those that make what they are given a name of, unless they are told to list."""
_TWO_WORDS: Mapping[tuple[str, str], Program] = {
    ("remote", "get-url"): Program(words=_words("--all --push"), source=range(1, 2)),
    ("stash", "list"): Program(source=range(1)),
    ("stash", "show"): Program(flags="pu", words=_words("--stat --name-only --name-status --patch"), source=range(2)),
    ("worktree", "list"): Program(flags="v", words=_words("--porcelain --verbose"), source=range(1)),
    ("config", "--get"): Program(source=range(1, 2)),
    ("config", "--list"): Program(source=range(1)),
    ("submodule", "status"): Program(source=range(1)),
}


def git_reads(argv: Argv) -> bool:
    """Whether this is git, doing nothing but read."""
    words = _words_of(argv)
    if not words:
        return False
    two = _TWO_WORDS.get((words[0], words[1])) if len(words) > 1 else None
    if two is not None:
        return two.takes(words[2:], first=True)
    program = _GIT.get(words[0])
    if words[0] in _LISTING and _lists(words[1:]):
        program = _LISTING[words[0]]
    return program is not None and program.takes(words[1:], first=True)


def renews_index(argv: Argv) -> bool:
    """Whether this is git, renewing its index beside: later commands may rest on that."""
    words = _words_of(argv)
    return words[:1] == ["status"] or (words[:1] == ["diff"] and not {"--cached", "--staged"} & set(words))


def _words_of(argv: Argv) -> list[str]:
    """Git's command and what it is given; empty where this is not git."""
    words = list(argv[1:]) if argv[0] == "git" else []
    while words and words[0] in ("-C", "--no-pager", "--no-optional-locks"):
        del words[: 2 if words[0] == "-C" else 1]
    return words


def _lists(words: Iterable[str]) -> bool:
    return any(word in ("-l", "--list") for word in words)
