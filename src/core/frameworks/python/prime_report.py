"""What the reporters for Python runners share: lines of the report (see ../report.ts), paths, frames.

Imported before the workspace is on sys.path. Paths are relative to the working directory, which is
the project's folder.
"""

import json
import os
import re
import time

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


class Report:
    def __init__(self, fd, here):
        self.fd = fd
        self.here = here

    def write(self, **line):
        data = (json.dumps(line, ensure_ascii=True) + "\n").encode("ascii")
        while data:
            try:
                data = data[os.write(self.fd, data):]
            except BlockingIOError:
                time.sleep(0.005)

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
