"""What the reporters for Python runners share: lines of the report (see ../report.ts), paths, frames.

Imported before the workspace is on sys.path. Paths are relative to the working directory, which is
the project's folder.
"""

import hashlib
import json
import os
import re
import sys
import time
import types

MAX_TEXT = 8000
MAX_FRAMES = 60
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def cut(text, limit=MAX_TEXT):
    text = ANSI.sub("", str(text)).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= limit else "%s … (%d characters left out)" % (text[:limit], len(text) - limit)


def show(value, quoted=False):
    try:
        text = value if type(value) is str and not quoted else repr(value)
    except BaseException as error:  # a broken __repr__ must not break the report
        text = "<unpresentable %s: %s>" % (type(value).__name__, type(error).__name__)
    return cut(text, 4000)


def compared(expected, actual):
    """Strings read best without quotes, unless that makes two different values look alike."""
    texts = show(expected), show(actual)
    if texts[0] == texts[1] or "" in texts:
        texts = show(expected, quoted=True), show(actual, quoted=True)
    return {"expected": texts[0], "actual": texts[1]}


def take_key():
    """The key on stdin; afterwards nothing is there to be read. Empty where nobody gave one."""
    try:
        key = sys.stdin.buffer.read().strip()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        return key
    except (AttributeError, OSError):
        return b""


def create_writer(fd, key):
    """A function that writes one line with a seal (see ../seal.ts). Code of the project runs in this
    process: the key and all that is called here are kept from before it was loaded."""
    string = json.encoder.encode_basestring_ascii
    sha256, write_bytes, sleep, blocking = hashlib.sha256, os.write, time.sleep, BlockingIOError
    kind, text, whole, real, yes, lists = type, str, int, float, bool, (list, tuple)
    number = 0

    def encode(value):
        # No json.dumps: it calls what can be replaced.
        if kind(value) is text:
            return string(value)
        if value is None:
            return "null"
        if kind(value) is yes:
            return "true" if value else "false"
        if kind(value) is whole:
            return "%d" % value
        if kind(value) is real:
            return "%.6f" % value
        if kind(value) in lists:
            return "[" + ",".join([encode(part) for part in value]) + "]"
        if kind(value) is dict_kind:
            return "{" + ",".join([string(name) + ":" + encode(value[name]) for name in value]) + "}"
        return string(text(value))

    def write(**line):
        nonlocal number
        data = encode(line).encode("ascii")
        if key:
            number += 1
            told = "%d %s %s" % (number, line["type"], line.get("status", ""))
            check = sha256(key + told.encode("ascii") + key).hexdigest()[:32]
            data = b"%d %s %s" % (number, check.encode("ascii"), data)
        data += b"\n"
        while data:
            try:
                data = data[write_bytes(fd, data):]
            except blocking:
                sleep(0.005)

    dict_kind = dict
    return write


class Report:
    def __init__(self, fd, here):
        self.here = here
        # Of the object: a changed class changes nothing.
        self.write = create_writer(fd, take_key())

    def relative(self, path):
        path = str(path)
        direct = os.path.relpath(os.path.join(self.here, path), self.here)
        if not direct.startswith(".."):
            return direct.replace(os.sep, "/")
        # The workspace may be visible at a second path: the same file under another name.
        try:
            own = os.stat(path)
            parts = path.split(os.sep)
            for index in range(1, len(parts)):
                candidate = os.sep.join(parts[index:])
                try:
                    other = os.stat(os.path.join(self.here, candidate))
                except OSError:
                    continue
                if (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino):
                    return candidate.replace(os.sep, "/")
        except OSError:
            pass
        return direct.replace(os.sep, "/")

    def frames_of(self, traceback):
        """Innermost first."""
        frames = []
        while traceback is not None:
            code = traceback.tb_frame.f_code
            frame = {"file": self.relative(code.co_filename), "line": traceback.tb_lineno or 1}
            if not code.co_name.startswith("<"):
                frame["function"] = code.co_name
            frames.append(frame)
            traceback = traceback.tb_next
        return frames[::-1][:MAX_FRAMES]


# Modules that leave sys.modules must stay alive.
HIDDEN = []


def hide():
    """Takes the reporter's modules out of reach of imports; `__main__` becomes an empty module."""
    HIDDEN.extend([sys.modules.pop(__name__), sys.modules["__main__"]])
    sys.modules["__main__"] = types.ModuleType("__main__")
