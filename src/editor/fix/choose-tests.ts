import { relative, sep } from 'node:path';
import type * as vscode from 'vscode';
import type { TestResult } from '../../core/frameworks/framework.ts';
import { pickMany } from '../support/pick-many.ts';
import { namesOf } from '../tests/test-tree.ts';
import { matchTests } from './match-tests.ts';
import type { FixRequest, TestSelector } from './request.ts';

export type TestChoice =
  | { readonly kind: 'tests'; readonly ids: readonly string[] }
  /** The user closed the list. */
  | { readonly kind: 'none' }
  /** What was asked for does not fail, or is not there; `text` says so. */
  | { readonly kind: 'nothing'; readonly text: string };

export interface FoundTests {
  readonly results: readonly TestResult[];
  readonly failing: readonly TestResult[];
  readonly flaky: readonly string[];
}

/** The tests that a request means, or those that the user chooses from what fails. */
export async function chooseTests(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
  request: FixRequest,
  found: FoundTests,
  signal: AbortSignal,
): Promise<TestChoice> {
  if (request.selectors.length > 0) return namedTests(vs, folder, request.selectors, found);
  const preferred = request.preferred
    ? matchTests(found.results, relativeTo(folder, request.preferred))
    : [];
  return pickTests(vs, found.failing, preferred, signal);
}

function namedTests(
  { l10n }: typeof vscode,
  folder: vscode.WorkspaceFolder,
  selectors: readonly TestSelector[],
  { results, failing, flaky }: FoundTests,
): TestChoice {
  const meant = selectors.flatMap((selector) => matchTests(results, relativeTo(folder, selector)));
  const ids = new Set(meant.map(({ id }) => id));
  const chosen = failing.filter(({ id }) => ids.has(id)).map(({ id }) => id);
  if (chosen.length > 0) return { kind: 'tests', ids: chosen };
  const [first] = meant;
  if (first === undefined) {
    const [selector] = selectors;
    const name = selector?.names.at(-1) ?? selector?.id ?? selector?.uri.path ?? '';
    return {
      kind: 'nothing',
      text: l10n.t(
        'The test run has no test “{0}”. Save the file, or choose from the failing tests.',
        name,
      ),
    };
  }
  const text = flaky.includes(first.id)
    ? l10n.t('“{0}” fails only sometimes, so there is nothing to check a fix by.', first.name)
    : meant.length === 1
      ? l10n.t('“{0}” passes in the sandbox.', first.name)
      : l10n.t('None of these {0} tests fails in the sandbox.', meant.length);
  return { kind: 'nothing', text };
}

interface TestItem extends vscode.QuickPickItem {
  readonly id: string;
}

async function pickTests(
  vs: typeof vscode,
  failing: readonly TestResult[],
  preferred: readonly TestResult[],
  signal: AbortSignal,
): Promise<TestChoice> {
  const marked = new Set(preferred.map(({ id }) => id));
  const some = failing.some(({ id }) => marked.has(id));
  const items = failing.map(
    (test): TestItem => ({
      id: test.id,
      label: namesOf(test.id).join(' › ') || test.name,
      description: test.file,
      detail: failureLine(vs, test),
      picked: failing.length === 1 || (some && marked.has(test.id)),
    }),
  );
  const picked = await pickMany(vs, items, {
    title: vs.l10n.t('Failing tests to fix'),
    placeholder: vs.l10n.t('Each gets attempts of its own'),
    signal,
  });
  return picked === undefined
    ? { kind: 'none' }
    : { kind: 'tests', ids: picked.map(({ id }) => id) };
}

/** What went wrong in one line; both sides say more than the words of an assertion. */
function failureLine({ l10n }: typeof vscode, { failure }: TestResult): string | undefined {
  const { expected, actual, message } = failure ?? {};
  if (expected !== undefined && actual !== undefined && isShort(expected) && isShort(actual)) {
    return l10n.t('expected {0}, got {1}', expected, actual);
  }
  return message?.split('\n', 1)[0];
}

function isShort(text: string): boolean {
  return text.length <= 60 && !text.includes('\n');
}

function relativeTo(folder: vscode.WorkspaceFolder, { uri, ...rest }: TestSelector) {
  const path = relative(folder.uri.fsPath, uri.fsPath).split(sep).join('/');
  return { ...rest, path };
}
