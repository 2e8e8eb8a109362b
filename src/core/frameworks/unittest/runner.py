"""Runs unittest and reports in JSON Lines (see ../report.ts for their shape).

Started as a script: unittest and everything it needs are imported before the workspace is on
sys.path, so a file of the workspace cannot take their place. Afterwards sys.path is what
`python -m unittest` would have. Paths are relative to the working directory, the project's folder.

Variables: PRIME_REPORT_FD, PRIME_REQUEST (JSON: {"tests": [ids], "list": bool}).
"""

import json
import os
import sys

sys.path[0] = os.path.join(os.path.dirname(sys.path[0]), "python")

import importlib
import importlib.util
import inspect
import linecache
import re
import traceback
import unittest
import unittest.case
import unittest.mock

from prime_report import MAX_TEXT, Report, compared, cut, hide

HERE = os.getcwd()
SKIPPED_FOLDERS = {"node_modules", "site-packages", "__pycache__", "venv", "env", "build", "dist"}
TEST_NAME = re.compile(r"^(?:test.*|.*_tests?|tests?)\.py$")
EQUALITY = {"assertEqual", "assertIs", "assertEquals", "assertCountEqual", "assertMultiLineEqual", "assertListEqual",
            "assertDictEqual", "assertTupleEqual", "assertSetEqual", "assertSequenceEqual", "assertAlmostEqual"}
PAIRS = (("first", "second"), ("expr1", "expr2"), ("list1", "list2"), ("d1", "d2"), ("tuple1", "tuple2"),
         ("set1", "set2"), ("seq1", "seq2"))


def test_files():
    """Files that hold tests by their names: unittest's own pattern, and `shop_test.py`, `tests.py`."""
    for folder, folders, names in os.walk(HERE):
        folders[:] = sorted(
            name for name in folders
            if not name.startswith(".") and name not in SKIPPED_FOLDERS
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in sorted(names):
            if TEST_NAME.match(name):
                yield os.path.relpath(os.path.join(folder, name), HERE).replace(os.sep, "/")


def import_file(file):
    """The module of a file, as `python -m unittest discover` in its folder or above it would name it."""
    folder, name = os.path.split(os.path.join(HERE, file))
    parts = [os.path.splitext(name)[0]]
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != HERE:
        folder, last = os.path.split(folder)
        parts.insert(0, last)
    if folder not in sys.path:
        sys.path.insert(1, folder)
    module_name = ".".join(parts)
    known = sys.modules.get(module_name)
    path = os.path.join(HERE, file)
    if known is not None and not same_file(getattr(known, "__file__", None), path):
        # Two folders with a file of one name: the second gets a name of its own.
        module_name = re.sub(r"\W", "_", os.path.splitext(file)[0])
        spec = importlib.util.spec_from_file_location(module_name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
        return module
    module = importlib.import_module(module_name)
    if not same_file(getattr(module, "__file__", None), path):
        raise ImportError("%s is %s, not this file" % (module_name, getattr(module, "__file__", "built in")))
    return module


def same_file(one, other):
    try:
        return one is not None and os.path.samefile(one, other)
    except OSError:
        return False


def each_test(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each_test(test)
        else:
            yield test


class Reporter(Report, unittest.TestResult):
    def __init__(self, fd):
        Report.__init__(self, fd, HERE)
        unittest.TestResult.__init__(self)
        self.modules = {}
        self.collected = {}
        self.current = None

    # -- what a test is called ----------------------------------------------------------------

    def file_of(self, test):
        return self.collected.get(id(test)) or self.modules.get(type(test).__module__)

    def describe(self, test):
        known = self.file_of(test)
        name = "%s::%s" % (type(test).__qualname__, getattr(test, "_testMethodName", "test"))
        if isinstance(test, unittest.FunctionTestCase):
            name = getattr(test._testFunc, "__name__", str(test))
        line = {"id": "%s::%s" % (known, name), "file": known or ".", "name": name}
        line["key"] = line["id"]
        try:
            method = inspect.unwrap(getattr(type(test), test._testMethodName))
            if self.relative(method.__code__.co_filename) == known:
                line["line"] = method.__code__.co_firstlineno
        except Exception:
            pass
        return line

    def tell(self, test, status, failure=None):
        line = {"type": "result", **self.describe(test), "status": status, "durationMs": 0}
        if failure is not None:
            line["failure"] = failure
        self.write(**line)

    # -- events ---------------------------------------------------------------------------------

    def startTest(self, test):
        super().startTest(test)
        self.current = test
        self.write(type="running", **self.describe(test))

    def addSuccess(self, test):
        self.tell(test, "passed")

    def addFailure(self, test, err):
        # First: unittest cuts its own frames, and with them the values, off the traceback.
        failure = self.failure_of(err)
        super().addFailure(test, err)
        self.tell(test, "failed", failure)

    def addError(self, test, err):
        failure = self.failure_of(err)
        super().addError(test, err)
        if isinstance(test, unittest.case.TestCase):
            self.tell(test, "failed", failure)
            return
        # setUpClass (tests.test_a.TestB), tearDownModule (tests.test_a)
        what, _, where = str(getattr(test, "description", test)).partition(" (")
        where = where.rstrip(")")
        module = next((name for name in sorted(self.modules, key=len, reverse=True)
                       if where == name or where.startswith(name + ".")), None)
        file = self.modules.get(module, ".")
        name = where[len(module) + 1:] if module is not None else ""
        failure["message"] = "in %s: %s" % (what, failure["message"])
        self.write(type="result", id="%s::%s" % (file, name) if name else file, file=file,
                   name=name or os.path.basename(file), status="error", durationMs=0, failure=failure)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.case.TestCase):
            self.tell(getattr(test, "test_case", test), "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.tell(test, "xfailed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        # unittest counts it as a failure of the run.
        self.tell(test, "failed", {"message": "passed, but a failure was expected", "frames": [], "details": ""})

    def addSubTest(self, test, subtest, err):
        failure = self.failure_of(err) if err is not None else None
        super().addSubTest(test, subtest, err)
        if failure is not None:
            failure["message"] = "%s %s" % (subtest._subDescription(), failure["message"])
            self.tell(test, "failed", failure)

    # -- failures -------------------------------------------------------------------------------

    def failure_of(self, err):
        kind, value, tb = err
        if value is None or not isinstance(value, BaseException):
            value = kind(value)
        details = "".join(traceback.format_exception(kind, value, tb))
        pair = self.pair_of(tb) if isinstance(value, AssertionError) else {}
        text = value.args[0] if isinstance(value, KeyError) and value.args else value
        text = repr(text) if isinstance(value, KeyError) else str(value)
        if isinstance(value, AssertionError):
            message = self.own_words(text, tb) if pair else text or self.source_line(tb) or "AssertionError"
        else:
            message = "%s: %s" % (kind.__name__, text) if text else kind.__name__
        message = "\n".join(message.split("\n")[:12])
        return {"message": cut(message), "frames": self.frames_of(tb), "details": cut(details, 2 * MAX_TEXT), **pair}

    @staticmethod
    def own_words(text, tb):
        """A message that the test gave stands behind the generated one, after ` : `."""
        own = re.search(r" : ([^\n].*)\Z", text, re.S)
        return own.group(1) if own else "Expected values to be equal"

    @staticmethod
    def pair_of(tb):
        """The values that an assertion of equality had, outermost assertion first."""
        while tb is not None:
            code = tb.tb_frame.f_code
            if code.co_name in EQUALITY and tb.tb_frame.f_globals.get("__name__") == "unittest.case":
                names = tb.tb_frame.f_locals
                for first, second in PAIRS:
                    if first in names and second in names:
                        return compared(names[second], names[first])
            tb = tb.tb_next
        return {}

    @staticmethod
    def source_line(tb):
        while tb.tb_next is not None:
            tb = tb.tb_next
        return linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno).strip()

    def load_error(self, file, error):
        frames = self.frames_of(error.__traceback__)
        frames = [frame for frame in frames if not frame["file"].startswith(("<", "../"))]
        if isinstance(error, SyntaxError) and error.filename:
            frames.insert(0, {"file": self.relative(error.filename), "line": error.lineno or 1})
            message = "%s: %s" % (type(error).__name__, error.msg)
        else:
            message = "%s: %s" % (type(error).__name__, error)
        self.write(type="collectionError", file=file, message=cut(message, 2000), frames=frames)


def collect(reporter, loader, files):
    suite = unittest.TestSuite()
    for file in files:
        try:
            module = import_file(file)
            before = len(loader.errors)
            found = loader.loadTestsFromModule(module)
            if len(loader.errors) > before:
                raise RuntimeError(str(loader.errors[before]).strip().split("\n")[-1])
        except unittest.SkipTest as skip:
            reporter.write(type="result", id=file, file=file, name=os.path.basename(file), status="skipped", durationMs=0)
            sys.stderr.write("%s: %s\n" % (file, skip))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reporter.load_error(file, error)
        else:
            reporter.modules.setdefault(module.__name__, file)
            for test in each_test(found):
                reporter.collected[id(test)] = file
            suite.addTest(found)
    return suite


def chosen(reporter, suite, tests):
    """The parts of a suite that are asked for; its nesting carries class and module fixtures."""
    kept = type(suite)()
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            kept.addTest(chosen(reporter, part, tests))
        elif any(is_chosen(reporter.describe(part)["id"], wanted) for wanted in tests):
            kept.addTest(part)
    return kept


def is_chosen(name, wanted):
    return name == wanted or (name.startswith(wanted) and name[len(wanted):][:1] in (":", "/"))


def main():
    fd = int(os.environ.pop("PRIME_REPORT_FD"))
    request = json.loads(os.environ.pop("PRIME_REQUEST"))
    os.set_inheritable(fd, False)
    # As `python -m unittest` has it: the working directory in place of this file's folder.
    sys.path[0] = HERE
    sys.argv[:] = ["python -m unittest"]
    reporter = Reporter(fd)
    hide()
    reporter.write(type="start", runner="unittest", version=".".join(map(str, sys.version_info[:3])))
    tests = request["tests"]
    if tests:
        files = []
        for file in dict.fromkeys(test.split("::")[0] for test in tests):
            if os.path.isdir(file):
                files += [name for name in test_files() if name.startswith(file.rstrip("/") + "/")]
            elif os.path.exists(file):
                files.append(file)
            else:
                reporter.write(type="collectionError", file=file, message="there is no such file", frames=[])
    else:
        files = list(test_files())
    suite = collect(reporter, unittest.TestLoader(), dict.fromkeys(files))
    if tests:
        suite = chosen(reporter, suite, tests)
    if request["list"]:
        for test in each_test(suite):
            reporter.tell(test, "listed")
    else:
        unittest.installHandler()
        suite.run(reporter)
    reporter.write(type="end")
    sys.stdout.flush()
    sys.exit(0 if reporter.wasSuccessful() and reporter.collected else 1)


main()
