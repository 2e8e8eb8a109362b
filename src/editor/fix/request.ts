import type * as vscode from 'vscode';
import type { PolicyChoice } from '../ports.ts';

/** What a fix is asked for, before anything is known about the tests of the folder. */
export interface FixRequest {
  /** Decides the folder; without it the user chooses. */
  readonly uri?: vscode.Uri;
  /** Empty: what fails is offered. */
  readonly selectors: readonly TestSelector[];
  /** Marked beforehand where failing tests are offered. */
  readonly preferred?: TestSelector;
  /** Ask what the user already knows about the failure. */
  readonly askForHint?: boolean;
  /** Instead of the one in the settings. */
  readonly policy?: PolicyChoice;
}

/** How somebody else names a test: a CodeLens, another extension's test item, a cursor. */
export interface TestSelector {
  readonly uri: vscode.Uri;
  /** As a framework or another extension calls it; may hold an absolute path. */
  readonly id?: string;
  /** Suites, then the test; from the outermost. */
  readonly names: readonly string[];
  /** 1-based. */
  readonly line?: number;
}

/**
 * Reads the arguments of `primeAgent.fixTest`: a `FixTarget`, a tree element with one, a test item of
 * any extension, or one of its messages.
 */
export function readFixRequest(vs: typeof vscode, args: readonly unknown[]): FixRequest {
  const [first, second] = args;
  // Some menus pass the whole selection behind the item that was clicked.
  const all = Array.isArray(second) && second.length > 0 ? second : [first];
  const selectors = all.flatMap((argument) => selectorsOf(vs, argument));
  const uri = selectors[0]?.uri ?? uriOf(vs, first);
  const policy = policyOf(first);
  return { ...(uri ? { uri } : {}), selectors, ...(policy ? { policy } : {}) };
}

function policyOf(argument: unknown): PolicyChoice | undefined {
  if (!isObject(argument) || !isObject(argument.policy)) return undefined;
  const { kind, model } = argument.policy;
  if (kind !== 'edit-search' && kind !== 'nano' && kind !== 'endpoint') return undefined;
  return { kind, ...(typeof model === 'string' ? { model } : {}) };
}

function selectorsOf(vs: typeof vscode, argument: unknown): readonly TestSelector[] {
  if (!isObject(argument)) return [];
  if (isObject(argument.fixTarget)) return selectorsOf(vs, argument.fixTarget);
  // A message: `{ test, message }`.
  if (isObject(argument.test)) return selectorsOf(vs, argument.test);
  const uri = uriOf(vs, argument);
  if (uri === undefined) return [];
  const { tests } = argument;
  if (Array.isArray(tests)) {
    const ids = tests.filter((id) => typeof id === 'string');
    return ids.length === 0 ? [{ uri, names: [] }] : ids.map((id) => ({ uri, id, names: [] }));
  }
  if (typeof argument.id !== 'string') return [];
  const line = lineOf(argument.range);
  return [
    {
      uri,
      id: argument.id,
      names: namesOf(argument, uri),
      ...(line === undefined ? {} : { line }),
    },
  ];
}

/** Labels from below the file's own item down to the test. */
function namesOf(item: Readonly<Record<string, unknown>>, uri: vscode.Uri): readonly string[] {
  const labels: string[] = [];
  const base = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  for (let at: unknown = item; isObject(at); at = at.parent) {
    const { label } = at;
    if (typeof label !== 'string' || label === base || label.endsWith(`/${base}`)) break;
    // Folders and projects above, where an extension has no item for the file.
    if (isObject(at.uri) && at.uri.path !== uri.path) break;
    labels.unshift(label);
  }
  return labels;
}

function uriOf(vs: typeof vscode, value: unknown): vscode.Uri | undefined {
  if (!isObject(value)) return undefined;
  return value.uri instanceof vs.Uri ? value.uri : undefined;
}

function lineOf(range: unknown): number | undefined {
  const line = isObject(range) && isObject(range.start) ? range.start.line : undefined;
  return typeof line === 'number' ? line + 1 : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
