import { relative, sep } from 'node:path';
import type * as vscode from 'vscode';
import type { TestResult } from '../../core/frameworks/framework.ts';
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
      detail: firstLine(test.failure?.message),
      picked: failing.length === 1 || (some && marked.has(test.id)),
    }),
  );
  const cancellation = new vs.CancellationTokenSource();
  const abort = (): void => cancellation.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const picked = await vs.window.showQuickPick(
      items,
      {
        canPickMany: true,
        title: vs.l10n.t('Failing tests to fix'),
        placeHolder: vs.l10n.t('Each gets attempts of its own'),
        matchOnDescription: true,
        ignoreFocusOut: true,
      },
      cancellation.token,
    );
    return picked === undefined || picked.length === 0
      ? { kind: 'none' }
      : { kind: 'tests', ids: picked.map(({ id }) => id) };
  } finally {
    signal.removeEventListener('abort', abort);
    cancellation.dispose();
  }
}

function relativeTo(folder: vscode.WorkspaceFolder, { uri, ...rest }: TestSelector) {
  const path = relative(folder.uri.fsPath, uri.fsPath).split(sep).join('/');
  return { ...rest, path };
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0];
}
