import { posix } from 'node:path';
import type { Framework } from '../frameworks/framework.ts';
import type { PatchPart } from '../snapshot/patch-format.ts';

/**
 * A new module with one of these names would be imported instead of the runner, the assertion
 * library or a module that they use, wherever the folder of it is on the import path.
 */
const SHADOWING = new Set(
  `pytest _pytest pluggy iniconfig py unittest doctest sitecustomize usercustomize conftest
  site builtins sys os io re json time random math types typing inspect traceback warnings logging
  functools itertools collections contextlib copy datetime dataclasses enum importlib pathlib
  operator string struct subprocess tempfile textwrap threading weakref ast tokenize difflib
  fnmatch glob platform shutil signal stat pprint decimal fractions numbers asyncio abc argparse
  bisect heapq hashlib atexit gc pdb linecache codecs locale packaging pygments`
    .trim()
    .split(/\s+/),
);

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|testing|specs?|e2e|fixtures|__snapshots__)\//;

/** Git's own files: attributes and submodules can change what other files are. */
const GIT_FILE = /(?:^|\/)\.git(?:attributes|modules)?(?:\/|$)/;

/** In added lines of a patch: something that a runner would take for a test. */
const DEFINES_TESTS = /^\+\s*(?:async\s+)?def\s+test|^\+\s*class\s+Test|^\+.*\b(?:test|it|describe|suite)\s*(?:\.\w+\s*)?\(/m;

/**
 * Does this part of a patch change how tests are written, found, run or judged? Such parts are
 * left out before the grading that gives the reward.
 *
 * @param testFiles files that hold tests by the baseline, whatever their names
 */
export function isTestSide(
  framework: Framework,
  part: PatchPart,
  testFiles: ReadonlySet<string>,
): boolean {
  return part.touches.some((path) => {
    if (testFiles.has(path) || GIT_FILE.test(path)) return true;
    if (framework.steering.isSteeringFile(path)) return true;
    if (part.status === 'added' && framework.id === 'pytest' && shadows(path)) return true;
    return framework.steering.isTestFile(path) && !onlyNamedLikeOne(path, part, testFiles);
  });
}

/**
 * `ledger/test_utils.py` is named like a test, but lives among the sources and holds no test: an
 * honest fix may add or change it, and it can do no more than any other source.
 */
function onlyNamedLikeOne(path: string, part: PatchPart, testFiles: ReadonlySet<string>): boolean {
  if (TEST_FOLDER.test(path) || posix.basename(path) === 'conftest.py') return false;
  if (part.binary || DEFINES_TESTS.test(part.patch)) return false;
  const folder = posix.dirname(path);
  return ![...testFiles].some((file) => posix.dirname(file) === folder);
}

function shadows(path: string): boolean {
  const parts = path.split('/');
  const last = parts.at(-1) ?? '';
  const isModule = /\.(?:py|pyc|so|pyd)$/.test(last);
  const isPackage = last === '__init__.py';
  const module = isPackage ? parts.at(-2) : last.replace(/\.\w+$/, '');
  // Inside a package of the project (`shop/types.py`) a name shadows nothing; at the top it does.
  const depth = isPackage ? parts.length - 1 : parts.length;
  const atTop = depth === 1 || (depth === 2 && parts[0] === 'src');
  return isModule && atTop && module !== undefined && SHADOWING.has(module);
}
