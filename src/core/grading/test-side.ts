import type { Framework } from '../frameworks/framework.ts';

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

/**
 * Does a change of this file change how tests are written, found, run or judged? Such changes are
 * reverted before the grading that gives the reward.
 *
 * @param path relative to the workspace
 * @param isNew it does not exist in the snapshot
 * @param testFiles files that hold tests by the baseline, whatever their names
 */
export function isTestSide(
  framework: Framework,
  path: string,
  isNew: boolean,
  testFiles: ReadonlySet<string>,
): boolean {
  if (testFiles.has(path)) return true;
  if (framework.steering.isTestFile(path) || framework.steering.isSteeringFile(path)) return true;
  if (/(^|\/)\.git(attributes|modules|ignore)?(\/|$)/.test(path))
    return path !== '.gitignore' && !path.endsWith('/.gitignore');
  if (/(^|\/)node_modules\//.test(path)) return true;
  return isNew && framework.id === 'pytest' && shadows(path);
}

function shadows(path: string): boolean {
  const parts = path.split('/');
  const last = parts.at(-1) ?? '';
  const module = last === '__init__.py' ? parts.at(-2) : last.replace(/\.(py|pyc|so|pyd)$/, '');
  const isModule = /\.(py|pyc|so|pyd)$/.test(last);
  // Inside a package of the project (`shop/types.py`) a name shadows nothing; at the top it does.
  const depth = last === '__init__.py' ? parts.length - 1 : parts.length;
  const atTop = depth === 1 || (depth === 2 && parts[0] === 'src');
  return isModule && atTop && module !== undefined && SHADOWING.has(module);
}
