import { posix } from 'node:path';
import type { Framework } from '../frameworks/framework.ts';
import type { PatchPart } from '../snapshot/patch-format.ts';
import { fromRawPath } from '../snapshot/raw-path.ts';
import { languageOf } from './added-code.ts';
import type { TestContext } from './test-context.ts';

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

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|testing|specs?|e2e|fixtures|__snapshots__)\//i;

/** A folder of this name that holds tests holds their helpers and data as well: `unit_tests`, `Tests`. */
const FOLDER_OF_TESTS =
  /^(?:[\w.-]*[-_.])?(?:(?:unit)?tests|__tests__|specs)$|^(?:test|spec|e2e|(?:unit|integration|functional|acceptance|system)(?:[-_.]?tests?)?|test[-_]?(?:suites?|cases))$|^[A-Z]\w*Tests$/i;

/** Folders of data that tests compare with, wherever they are. */
const FOLDER_OF_DATA =
  /(?:^|\/)(?:test[-_]?data|tests?[-_](?:files|resources|fixtures)|goldens?|golden[-_](?:files|data)|expected|expectations|cassettes|approvals?|approved|__file_snapshots__|snapshots)\//i;

/** Git's own files: attributes and submodules can change what other files are. */
const GIT_FILE = /(?:^|\/)\.git(?:attributes|modules)?(?:\/|$)/;

/** Installed packages by their metadata: entry points in it are loaded as plugins of the runner. */
const PACKAGE_METADATA = /\.(?:egg-info|dist-info|egg-link)(?:\/|$)/i;

/** In added lines of a patch: something that a runner would take for a test. */
const DEFINES_TESTS =
  /^\+\s*#\[(?:\w+::)*test\b|^\+\s*(?:async\s+)?def\s+test|^\+\s*class\s+Test|^\+.*(?<![\w.])(?:test|it|describe|suite)\s*(?:\.\w+\s*)?\(/m;

/**
 * Does this part of a patch change how tests are written, found, run or judged? Such parts are
 * left out before the grading that gives the reward.
 */
export async function isTestSide(
  framework: Framework,
  part: PatchPart,
  context: TestContext,
  projectPath = '',
): Promise<boolean> {
  for (const raw of part.touches) {
    const path = fromRawPath(raw);
    const { steering, id } = framework;
    const isTests = context.testFiles.has(path) && steering.holdsSources?.(path) !== true;
    if (isTests || context.preloaded.has(path) || GIT_FILE.test(path)) return true;
    if (steering.isSteeringFile(path)) return true;
    if (inFolderOfTests(path, context) || isComparedData(path)) return true;
    if (id === 'pytest') {
      if (PACKAGE_METADATA.test(path)) return true;
      const isNew = part.status === 'added' || part.touches.length > 1;
      if (isNew && (await shadows(path, context, projectPath))) return true;
    }
    if (!steering.isTestFile(path)) continue;
    if (steering.isExact || !onlyNamedLikeOne(path, part, context.testFiles)) return true;
  }
  return false;
}

function inFolderOfTests(path: string, context: TestContext): boolean {
  for (let up = posix.dirname(path); up !== '.'; up = posix.dirname(up)) {
    if (FOLDER_OF_TESTS.test(posix.basename(up)) && context.foldersWithTests.has(up)) return true;
  }
  return false;
}

function isComparedData(path: string): boolean {
  const language = languageOf(path);
  return FOLDER_OF_DATA.test(path) && (language === 'prose' || language === undefined);
}

/**
 * `ledger/test_utils.py` is named like a test, but lives among the sources and holds no test: an
 * honest fix may add or change it, and it can do no more than any other source.
 */
function onlyNamedLikeOne(path: string, part: PatchPart, testFiles: ReadonlySet<string>): boolean {
  if (TEST_FOLDER.test(path) || posix.basename(path) === 'conftest.py') return false;
  if (part.binary || DEFINES_TESTS.test(part.patch)) return false;
  // `src/openapi-spec.js` next to tests: had it any, the run of all tests would have shown them.
  if (part.status === 'modified' && /[-_]spec\.[cm]?[jt]sx?$/.test(path)) return true;
  const folder = posix.dirname(path);
  return ![...testFiles].some((file) => posix.dirname(file) === folder);
}

/** Would this new Python module be imported in the place of one that is there already? */
async function shadows(path: string, context: TestContext, projectPath: string): Promise<boolean> {
  const inProject =
    projectPath !== '' && path.startsWith(`${projectPath}/`)
      ? path.slice(projectPath.length + 1)
      : path;
  const parts = inProject.split('/');
  const last = parts.at(-1) ?? '';
  const isPackage = /^__init__\.\w+$/.test(last);
  const module = isPackage ? parts.at(-2) : last.replace(/\..*$/, '');
  // Inside a package of the project (`shop/types.py`) a name shadows nothing; at the top it does.
  const depth = isPackage ? parts.length - 1 : parts.length;
  const atTop = depth === 1 || (depth === 2 && /^(?:src|lib|python)$/.test(parts[0] ?? ''));
  if (!/\.(?:py|pyc|so|pyd)$/.test(last) || !atTop || module === undefined) return false;
  if (SHADOWING.has(module)) return true;
  // Tests that run on the unchanged snapshot have found the module: somewhere else than here.
  if (!context.imported.has(module)) return false;
  const folder = isPackage ? posix.dirname(path) : posix.join(posix.dirname(path), module);
  return !(await context.exists(folder));
}
