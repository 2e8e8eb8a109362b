import type * as vscode from 'vscode';
import type { SourcePlace, TestResult } from '../../core/frameworks/framework.ts';

/** A failure as the editor shows it: with a diff where both sides are known, and with its frames. */
export function failureMessage(
  vs: typeof vscode,
  folder: vscode.Uri,
  result: TestResult,
): vscode.TestMessage {
  const { failure } = result;
  const text = failure?.message.trim() || result.status;
  const message =
    failure?.expected !== undefined && failure.actual !== undefined
      ? vs.TestMessage.diff(text, failure.expected, failure.actual)
      : new vs.TestMessage(text);
  message.location = failureLocation(vs, folder, result);
  const frames = [failure?.place, failure?.ownFrame].filter((place) => place !== undefined);
  if (frames.length > 0) {
    message.stackTrace = frames.map((place) => {
      const { uri, range } = locationOf(vs, folder, place);
      return new vs.TestMessageStackFrame(place.function ?? place.file, uri, range.start);
    });
  }
  return message;
}

/** Where the failure was raised, else where the test is, else its file. */
export function failureLocation(
  vs: typeof vscode,
  folder: vscode.Uri,
  { failure, file, line }: Pick<TestResult, 'failure' | 'file' | 'line'>,
): vscode.Location {
  // A failure inside of a helper is shown at the test, which is where people look for it.
  const place = failure?.place?.file === file ? failure.place : { file, line: line ?? 1 };
  return locationOf(vs, folder, place);
}

function locationOf(
  vs: typeof vscode,
  folder: vscode.Uri,
  { file, line, column }: SourcePlace,
): vscode.Location {
  const at = new vs.Position(Math.max(0, line - 1), Math.max(0, (column ?? 1) - 1));
  return new vs.Location(vs.Uri.joinPath(folder, file), at);
}
