"""Programs that do anything to a tree of files, made from a seed. Each step prints what came of it."""

import json
import os
import random
import sys
from pathlib import Path

from tests.staging.trees import FOLDERS, NAMES, OLD_NS

_STEPS = r'''
import ctypes, errno, json, mmap, os, shutil, socket, stat, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
OPENS = "read write append patch same opened mapped sparse forked shell remove again".split()

def shown(data):
    return f"{len(data)} {sum(data)} {data[:8].hex()}"

def read(path):
    with open(path, "rb") as file: return shown(file.read())
def write(path, size):
    with open(path, "wb") as file: file.write(b"w" * size)
def append(path, size):
    with open(path, "ab") as file: file.write(b"a" * size)
def patch(path, at):
    with open(path, "r+b") as file: file.seek(at); file.write(b"patched")
def same(path):
    with open(path, "rb") as file: data = file.read()
    with open(path, "r+b") as file: file.write(data)
def opened(path):
    os.close(os.open(path, os.O_RDWR))
def mapped(path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory: memory[0] = 77
def truncate(path, size): os.truncate(path, size)
def sparse(path):
    with open(path, "wb") as file: file.truncate(300_000); file.seek(200_000); file.write(b"end")
def saved(path, size):
    with open(path + "~", "wb") as file: file.write(b"s" * size)
    os.replace(path + "~", path)
def rename(path, other): os.rename(path, other)
def exchange(path, other):
    if libc.renameat2(-100, os.fsencode(path), -100, os.fsencode(other), 2):
        raise OSError(ctypes.get_errno(), "")
def unlink(path): os.unlink(path)
def remove(path):
    for name in sorted(os.listdir(path)):
        inner = os.path.join(path, name)
        if os.path.isdir(inner) and not os.path.islink(inner): remove(inner)
        else: os.unlink(inner)
    os.rmdir(path)
def mkdir(path): os.mkdir(path)
def mkdirs(path): os.makedirs(path + "/new/er"); write(path + "/new/er/file", 10); write(path + "/new/file", 10)
def rmdir(path): os.rmdir(path)
def again(path): remove(path); os.mkdir(path); write(path + "/again", 3)
def chmod(path, mode): os.chmod(path, mode)
def chown(path, uid): os.chown(path, uid, uid, follow_symlinks=False)
def symlink(path, target): os.symlink(target, path)
def link(path, other): os.link(path, other, follow_symlinks=False)
def linked(path, other):
    file = os.open(path, os.O_TMPFILE | os.O_RDWR, 0o640); os.write(file, b"linked")
    came = libc.linkat(-100, f"/proc/self/fd/{file}".encode(), -100, os.fsencode(other), 0x400)
    os.close(file)
    if came: raise OSError(ctypes.get_errno(), "")
def utime(path, moment): os.utime(path, ns=(moment, moment), follow_symlinks=False)
def fifo(path): os.mkfifo(path)
def bound(path):
    with socket.socket(socket.AF_UNIX) as server: server.bind(path)
def note(path, value): os.setxattr(path, "user.note", value.encode(), follow_symlinks=False)
def unnote(path): os.removexattr(path, "user.note")
def names(path): return sorted(os.listdir(os.fsencode(path)))
def looked(path):
    found = os.lstat(path)
    links = found.st_nlink if not stat.S_ISDIR(found.st_mode) else ""
    return oct(found.st_mode), found.st_uid, links, found.st_size if stat.S_ISREG(found.st_mode) else ""
def copied(path, other):
    if (other + "/").startswith(path + "/"): return
    os.mkdir(other)
    for name in sorted(os.listdir(path)):
        inner, target = os.path.join(path, name), os.path.join(other, name)
        if os.path.isdir(inner) and not os.path.islink(inner): copied(inner, target)
        else: shutil.copy2(inner, target, follow_symlinks=False)
    shutil.copystat(path, other)
def shell(path, other):
    if os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other):
        return  # a race between its ends
    return subprocess.run(["/bin/sh", "-c", 'head -c 50 <"$1" | tr a-z b-za | cat >"$2"; echo $?', "sh", path, other],
        capture_output=True).stdout
def forked(path):
    child = os.fork()
    if not child:
        try: append(path, 5)
        finally: os._exit(3)
    return os.waitpid(child, 0)[1]
def err(text): print(text, file=sys.stderr)

def waits(path):
    """Whether opening it would wait for somebody at its other end."""
    try: return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError: return False

for name, *arguments in json.loads(sys.argv[1]):
    if name in OPENS and any(map(waits, arguments[:2 if name == "shell" else 1])): continue
    try:
        came = globals()[name](*arguments)
    except (OSError, ValueError, shutil.Error) as fault:
        number = getattr(fault, "errno", None)
        came = errno.errorcode[number] if isinstance(number, int) else type(fault).__name__
    print(name, came, flush=True)
sys.exit(int(sys.argv[2]))
'''

_ONE = ("read", "same", "opened", "mapped", "sparse", "unlink", "fifo", "bound", "unnote", "looked", "forked")
_SIZED = ("write", "append", "saved", "truncate")
_TWO = ("rename", "rename", "rename", "exchange", "link", "shell")
_FOLDER = ("remove", "mkdir", "mkdirs", "rmdir", "again", "names")
_KINDS = (*_ONE, *_SIZED, *_TWO, *_FOLDER) * 2 + ("patch", "chmod", "chown", "symlink", "utime", "note", "err")
_KINDS_OF_FOLDERS = ("rename", "exchange", "copied", "linked")


def python_in(folder: Path) -> str:
    """An interpreter by the name of a program that puts in order what it lists, as these do: others must not list a
    directory to which they have added names."""
    link = folder / "git"
    if not link.is_symlink():
        link.symlink_to(os.path.realpath(sys.executable))
    return str(link)


def program(seed: int, python: str, *, moves_folders: bool = True, owners: bool = True) -> tuple[str, ...]:
    """The argument vector of a program for a tree of `trees.plant`.

    Args:
        python: of `python_in`.
        moves_folders: directories are renamed, too.
        owners: files are given to others.
    """
    chance = random.Random(seed)
    steps = [_step(chance, moves_folders=moves_folders) for _ in range(chance.randrange(5, 50))]
    steps = [step for step in steps if owners or step[0] != "chown"]
    code = chance.choice((0, 0, 0, 1, 7))
    return python, "-I", "-S", "-c", _STEPS, json.dumps(steps), str(code)


def _step(chance: random.Random, *, moves_folders: bool) -> tuple[object, ...]:
    if moves_folders and chance.random() < 0.15:
        kind = chance.choice(_KINDS_OF_FOLDERS)
        return kind, _folder(chance), chance.choice((_folder(chance), _file(chance), _file(chance)))
    kind = chance.choice(_KINDS)
    if kind in _SIZED:
        return kind, _file(chance), chance.choice((0, 3, 9000))
    if kind in _TWO:
        return kind, _file(chance), _file(chance)
    if kind in _FOLDER:
        return kind, chance.choice((_folder(chance), _file(chance)))
    anything = chance.choice((_file(chance), _file(chance), _folder(chance)))
    match kind:
        case "patch":
            return kind, _file(chance), chance.choice((0, 7, 4000))
        case "chmod":
            return kind, anything, chance.choice((0o600, 0o644, 0o755, 0o700, 0o444, 0o555, 0o2755, 0o1777))
        case "chown":
            return kind, anything, chance.choice((0, 1, 1000))
        case "symlink":
            return kind, _file(chance), chance.choice(("a", "../one", "nowhere"))
        case "utime":
            return kind, anything, OLD_NS + chance.randrange(10**15)
        case "note":
            return kind, anything, chance.choice(("second", ""))
        case "err":
            return kind, "to stderr"
        case _:
            return kind, _file(chance)


def _folder(chance: random.Random) -> str:
    return chance.choice((*FOLDERS[1:], "one/new", "moved"))


def _file(chance: random.Random) -> str:
    return str(Path(chance.choice((*FOLDERS, "one/new", "moved", "moved/two")), chance.choice(NAMES)))
