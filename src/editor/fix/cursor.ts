import type * as vscode from 'vscode';
import type { FixRequest, TestSelector } from './request.ts';

/** The test that the cursor is in, as far as a line can tell. */
export function selectorAtCursor(vs: typeof vscode): TestSelector | undefined {
  const editor = vs.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') return undefined;
  const { document, selection } = editor;
  return { uri: document.uri, names: [], line: selection.active.line + 1 };
}

/** What fails is offered; the test at the cursor is marked. */
export function requestToChoose(vs: typeof vscode, uri: unknown): FixRequest {
  const preferred = selectorAtCursor(vs);
  return {
    ...(uri instanceof vs.Uri ? { uri } : {}),
    selectors: [],
    ...(preferred ? { preferred } : {}),
  };
}

/** The test at the cursor, without a question. Without an editor: like the other command. */
export function requestAtCursor(vs: typeof vscode): FixRequest {
  const selector = selectorAtCursor(vs);
  return selector ? { uri: selector.uri, selectors: [selector] } : requestToChoose(vs, undefined);
}
