"""Runs pytest and reports in JSON Lines (see ../report.ts for their shape).

Started as a script, not as `-m pytest`: pytest and everything it needs are imported before the
workspace is on sys.path, so a file of the workspace cannot take their place. Afterwards sys.path
is what `python -m pytest` would have. Paths are relative to the working directory, which is the
project's folder and is made pytest's rootdir.

Variables: PRIME_REPORT_FD, PRIME_SELECT (JSON list of node ids; empty: all that is collected).
"""

import json
import os
import re
import sys

sys.path[0] = os.path.join(os.path.dirname(sys.path[0]), "python")

from prime_report import MAX_FRAMES, MAX_TEXT, Report, compared, cut, hide

# Options of a project's addopts that end a run early, split it over processes, reorder it by
# earlier runs or measure coverage. The others are kept: plugins may need them.
DROPPED = re.compile(
    r"^(-x|--exitfirst|--maxfail(=.*)?|--cov(-[a-z-]+)?(=.*)?|--no-cov|-n|-n\d+|-nauto|--numprocesses(=.*)?"
    r"|--dist(=.*)?|--lf|--last-failed|--ff|--failed-first|--nf|--new-first|--sw|--stepwise|--stepwise-skip"
    r"|--sw-skip|--cache-clear|--lfnf(=.*)?|--last-failed-no-failures(=.*)?|--pdb|--trace|--pastebin(=.*)?"
    r"|--junit-?xml(=.*)?|--html(=.*)?|--looponfail|-f|--color(=.*)?)$"
)
TAKES_VALUE = {"--maxfail", "--cov-report", "--cov-config", "--cov-fail-under", "--cov-context", "-n", "--numprocesses",
               "--dist", "--junitxml", "--junit-xml", "--html", "--color", "--lfnf", "--last-failed-no-failures"}


def strip_options(args):
    """Removes DROPPED options in place."""
    kept, index = [], 0
    while index < len(args):
        word = str(args[index])
        if word == "--":
            kept.extend(args[index:])
            break
        if DROPPED.match(word):
            following = str(args[index + 1]) if index + 1 < len(args) else "-"
            if "=" not in word and (word in TAKES_VALUE or (word == "--cov" and not following.startswith("-"))):
                index += 1
        else:
            kept.append(args[index])
        index += 1
    args[:] = kept


class Reporter(Report):
    def __init__(self, fd, selected, here):
        super().__init__(fd, here)
        self.selected = selected
        self.comparison = None
        self.places = {}

    # -- hooks ------------------------------------------------------------------------------

    def pytest_load_initial_conftests(self, early_config, args):
        strip_options(args)
        known = early_config.known_args_namespace
        for name, value in (("cov_source", None), ("no_cov", True), ("numprocesses", None), ("dist", "no")):
            if hasattr(known, name):
                setattr(known, name, value)
        files = [arg for arg in args if str(arg).endswith(".py") and not str(arg).startswith("-")]
        missing = [file for file in files if not os.path.exists(str(file))]
        for file in missing:
            self.write(type="collectionError", file=self.relative(file), message="there is no such file", frames=[])
        if missing and len(missing) < len(files):
            args[:] = [arg for arg in args if arg not in missing]

    pytest_load_initial_conftests.pytest_impl = {"tryfirst": True}

    def pytest_collection_modifyitems(self, config, items):
        if not self.selected:
            return
        kept, dropped = [], []
        for item in items:
            (kept if self.is_selected(item.nodeid) else dropped).append(item)
        if dropped:
            items[:] = kept
            config.hook.pytest_deselected(items=dropped)

    pytest_collection_modifyitems.pytest_impl = {"trylast": True}

    def is_selected(self, nodeid):
        for wanted in self.selected:
            if nodeid == wanted or (nodeid.startswith(wanted) and nodeid[len(wanted):][:1] in (":", "[", "/")):
                return True
        return False

    def pytest_collection_finish(self, session):
        for item in session.items:
            file, line, _ = item.location
            self.places[item.nodeid] = (file.replace(os.sep, "/"), (line or 0) + 1)
            if session.config.option.collectonly:
                self.write(type="result", id=item.nodeid, status="listed", durationMs=0, **self.place(item.nodeid))

    def place(self, nodeid):
        file = nodeid.split("::")[0]
        found, line = self.places.get(nodeid, (file, None))
        name = nodeid[len(file) + 2:] or nodeid
        # A test inherited from another file has its line there.
        return {"file": file, "name": name, **({"line": line} if line and found == file else {})}

    def pytest_runtest_logstart(self, nodeid, location):
        self.comparison = None
        self.write(type="running", id=nodeid, key=nodeid, **self.place(nodeid))

    def pytest_assertrepr_compare(self, config, op, left, right):
        self.comparison = (op, left, right)
        return None

    pytest_assertrepr_compare.pytest_impl = {"tryfirst": True}

    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if report.outcome == "failed" and call.excinfo is not None:
            report._prime = self.failure_of(report, call.excinfo)
            # The values themselves must not be kept alive or compared later.
            self.comparison = None

    pytest_runtest_makereport.pytest_impl = {"hookwrapper": True}

    def failure_of(self, report, excinfo):
        value = excinfo.value
        details = self.details(report)
        name = type(value).__name__
        text = str(value) if not isinstance(value, KeyError) else repr(value.args[0] if value.args else value)
        if name in ("FixtureLookupError",):
            text = (report.longreprtext.strip().splitlines() or [""])[-1].lstrip("E").strip() or text
        if isinstance(value, AssertionError) or name == "Failed":
            message = text or name
        elif isinstance(value, SystemExit):
            message = "SystemExit: %s" % value.code
        else:
            message = "%s: %s" % (name, text) if text else name
        failure = {"frames": self.frames_of(excinfo.tb), "details": details, **self.compared(value, text)}
        failure["message"] = cut("\n".join(message.split("\n")[:12]))
        return failure

    def compared(self, value, text):
        if self.comparison is None or not isinstance(value, AssertionError):
            return {}
        op, left, right = self.comparison
        if op not in ("==", "is"):
            return {}
        return compared(right, left)

    @staticmethod
    def details(report):
        parts = [report.longreprtext]
        parts += ["--- %s ---\n%s" % (name, text) for name, text in report.sections]
        return cut("\n".join(parts), 2 * MAX_TEXT)

    def pytest_runtest_logreport(self, report):
        if report.outcome == "rerun":
            return
        failure = None
        if report.outcome == "failed":
            failure = getattr(report, "_prime", None) or {
                "message": cut("\n".join(report.longreprtext.strip().split("\n")[:12])),
                "frames": [],
                "details": self.details(report),
            }
            status = "failed" if report.when == "call" else "error"
            if report.when == "teardown":
                failure["message"] = "in teardown: " + failure["message"]
        elif hasattr(report, "wasxfail"):
            status = "xfailed" if report.outcome == "skipped" else "xpassed"
        elif report.outcome == "skipped":
            status = "skipped"
        elif report.when == "call":
            status = "passed"
        else:
            return
        line = {"type": "result", "id": report.nodeid, "key": report.nodeid, "status": status}
        line.update(self.place(report.nodeid))
        line["durationMs"] = report.duration * 1000
        if failure is not None:
            line["failure"] = failure
        self.write(**line)

    def pytest_collectreport(self, report):
        if report.outcome != "failed":
            return
        text = report.longreprtext
        errors = [line[1:].strip() for line in text.split("\n") if re.match(r"^E\s", line)]
        if not errors:
            errors = [line for line in text.strip().split("\n") if line.strip()][-3:]
        frames = []
        for path, line in re.findall(r'(?:^|\n)(?:E\s+File "([^"]+)", line (\d+))', text) or re.findall(
            r"(?:^|\n)(\S[^\n:]*\.py):(\d+): ", text
        ):
            frames.insert(0, {"file": self.relative(path), "line": int(line)})
        message = "\n".join(line for line in errors if not line.startswith('File "'))
        file = report.nodeid.split("::")[0] or "."
        self.write(type="collectionError", file=file, message=cut(message, 2000), frames=frames[:MAX_FRAMES])

    def pytest_internalerror(self, excrepr):
        sys.stderr.write("prime-agent: pytest itself failed: %s\n" % str(excrepr).strip().split("\n")[-1])

    def pytest_unconfigure(self, config):
        self.finished = True


def main():
    fd = int(os.environ.pop("PRIME_REPORT_FD"))
    selected = json.loads(os.environ.pop("PRIME_SELECT", "[]"))
    os.set_inheritable(fd, False)
    here = os.getcwd()
    try:
        import pytest
    except ImportError as error:
        sys.stderr.write("prime-agent: pytest cannot be imported: %s\n" % error)
        sys.exit(1)
    # As `python -m pytest` has it: the working directory in place of this file's folder.
    sys.path[0] = here
    sys.argv[0] = pytest.__file__

    reporter = Reporter(fd, selected, here)
    hide()
    reporter.finished = False
    for name in dir(Reporter):
        options = getattr(getattr(Reporter, name), "pytest_impl", None)
        if options:
            setattr(Reporter, name, pytest.hookimpl(**options)(getattr(Reporter, name)))
    reporter.write(type="start", runner="pytest", version=pytest.__version__)
    code = pytest.main(sys.argv[1:], plugins=[reporter])
    # Usage errors end before a session: not a report that came to its end.
    if reporter.finished and int(code) in (0, 1, 2, 5):
        reporter.write(type="end")
    sys.exit(int(code))


main()
