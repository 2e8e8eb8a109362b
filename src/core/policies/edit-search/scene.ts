import { importsOf, isTestPath, type Packages } from '../../frameworks/imports.ts';
import { languageOf } from '../../tasks/operators/edit.ts';
import { outlineOf } from '../../tasks/operators/functions.ts';
import {
  type FailureBlock,
  fileOf,
  readFailures,
  readReport,
  type TestReport,
} from './failures.ts';
import type { Subject } from './rank.ts';
import { act, call, type Steps, viewAll } from './steps.ts';

/** What is known before the first edit. */
export interface Scene {
  readonly failures: readonly FailureBlock[];
  readonly subjects: readonly Subject[];
  /** Test files that are run to see what else an edit breaks, the failing ones first. */
  readonly testFiles: readonly string[];
  readonly baseline: TestReport;
}

const SOURCES = ['js', 'cjs', 'mjs', 'jsx', 'ts', 'cts', 'mts', 'tsx', 'py', 'rs', 'go'];
const LISTED_FILES = 350;
const REGRESSION_FILES = 12;

export const LIST_COMMAND = [
  `cd /workspace && find . \\( -name node_modules -o -name .git -o -name .venv -o -name venv -o -name __pycache__ -o -name dist -o -name build -o -name .tox -o -name target \\) -prune -o -type f`,
  `\\( -name package.json ${SOURCES.map((extension) => `-o -name '*.${extension}'`).join(' ')} \\) -print`,
  `| sed 's|^\\./||' | LC_ALL=C sort | head -n ${LISTED_FILES}`,
].join(' ');

/**
 * Lists the workspace, runs the tests, and reads the failing tests and what they import, nearest first.
 *
 * @param mostFiles that are viewed
 */
export function* lookAround(firstMessage: string, mostFiles: number): Steps<Scene> {
  let failures = readFailures(firstMessage);
  const [listing, first] = yield* act({
    say: 'Looking at the files of the workspace and at how the tests fail.',
    calls: [call.bash(LIST_COMMAND), call.runTests()],
  });
  const report = readReport(first ?? '');
  if (report.failures.length > 0) failures = report.failures;
  const files = new Set((listing ?? '').split('\n').filter((line) => /^[^[(].*\.\w+$/.test(line)));
  const failing = [...new Set(failures.map((failure) => fileOf(failure.id)))];
  for (const file of failing) files.add(file);

  const packages = yield* readPackages(files);
  const subjects: Subject[] = [];
  const known = new Set<string>();
  let front = [
    ...failing,
    ...failures.flatMap((f) => [f.inside?.file, f.at?.file]).filter((file) => file !== undefined),
  ];
  for (let depth = 0; front.length > 0 && subjects.length < mostFiles; depth++) {
    const fresh = [...new Set(front)]
      .filter((path) => !known.has(path) && files.has(path) && languageOf(path) !== undefined)
      .slice(0, mostFiles - subjects.length);
    for (const path of fresh) known.add(path);
    const texts = yield* viewAll(
      fresh,
      depth === 0 ? 'Reading the failing test.' : 'Reading what it imports.',
    );
    front = [];
    for (const [path, text] of texts) {
      const language = languageOf(path);
      if (language === undefined) continue;
      // Rust's tests stand in the files that they test; the operators leave them alone.
      const isTest = isTestPath(path) || (failing.includes(path) && language !== 'rust');
      subjects.push({
        ...{ path, text, language, depth, editable: !isTest },
        outline: outlineOf(text, language),
      });
      front.push(...importsOf(path, text, files, packages));
    }
  }

  const testFiles = [...new Set([...failing, ...nearTests(files, failing)])].slice(
    0,
    REGRESSION_FILES,
  );
  const [all] = yield* act({
    say: 'Running the whole test files, to know later what an edit breaks.',
    calls: [call.runTests(testFiles)],
  });
  return {
    failures,
    subjects,
    testFiles,
    baseline: readReport(all ?? ''),
  };
}

/** Other test files of the same language and folder tree. */
function nearTests(files: ReadonlySet<string>, failing: readonly string[]): readonly string[] {
  const python = failing.some((file) => file.endsWith('.py'));
  const top = (path: string) => path.split('/').slice(0, -1).join('/');
  const tops = new Set(failing.map(top));
  return [...files].filter(
    (path) =>
      path.endsWith('.py') === python &&
      /(?:^|\/)test_[^/]*\.py$|_test\.py$|[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(path) &&
      [...tops].some((folder) => top(path).startsWith(folder)),
  );
}

function* readPackages(files: ReadonlySet<string>): Steps<Packages> {
  const manifests = [...files].filter((path) => path.endsWith('package.json')).slice(0, 12);
  if (manifests.length === 0 || ![...files].some((path) => /\.[cm]?[jt]sx?$/.test(path)))
    return new Map();
  const texts = yield* viewAll(
    manifests,
    'Reading the package manifests for the names of packages.',
  );
  const packages = new Map<string, string>();
  for (const [path, text] of texts) {
    const name = /^\s*"name":\s*"([^"]+)"/m.exec(text)?.[1];
    if (name !== undefined) packages.set(name, path.replace(/(?:^|\/)package\.json$/, '') || '.');
  }
  return packages;
}
