"""Says in JSON what an interpreter is and what it needs to be visible. Run with `-B -c`."""

import glob
import json
import os
import re
import sys

found = {"version": "%d.%d.%d" % sys.version_info[:3], "prefix": sys.prefix, "base": sys.base_prefix}
found["executable"] = sys.executable
found["real"] = os.path.realpath(sys.executable)
found["stdlib"] = os.path.dirname(os.__file__)
found["paths"] = [path for path in sys.path if path and os.path.isdir(path)]
try:
    import site

    found["userBase"] = site.USER_BASE if site.ENABLE_USER_SITE and site.USER_SITE in sys.path else None
except Exception:
    found["userBase"] = None
try:
    import pytest

    found["pytest"] = pytest.__version__
    found["pytestAt"] = os.path.dirname(pytest.__file__)
except Exception as error:
    found["pytest"] = None
    found["pytestError"] = "%s: %s" % (type(error).__name__, error)
# Editable installs that are import hooks name their folders in a mapping.
editable = []
for path in found["paths"]:
    for hook in glob.glob(os.path.join(glob.escape(path), "__editable___*.py")):
        with open(hook, encoding="utf-8", errors="replace") as text:
            editable += [place for place in re.findall(r"""['"](/[^'"\n]+)['"]""", text.read()) if os.path.exists(place)]
found["editable"] = editable
print(json.dumps(found))
