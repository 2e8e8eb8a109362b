import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import type { FixTarget } from '../ports.ts';
import { failureLocation } from './failure-message.ts';
import type { KnownTests } from './known-tests.ts';

const FIX: CommandId = 'primeAgent.fixTest';
const SOURCE = 'Prime Agent';

/**
 * Failures in the Problems view and under the line that failed, with a quick fix. A warning: the code
 * is well-formed, and the Test Explorer already shows the failure as an error.
 */
export function createFailureDiagnostics(vs: typeof vscode, known: KnownTests): vscode.Disposable {
  const collection = vs.languages.createDiagnosticCollection('primeAgent');
  /** Which test a diagnostic is about; ids would only be noise where diagnostics are listed. */
  const tests = new Map<string, string>();

  const show = (): void => {
    collection.clear();
    tests.clear();
    for (const uri of known.failingFiles()) {
      const folder = vs.workspace.getWorkspaceFolder(uri);
      if (folder === undefined) continue;
      const diagnostics = known.failingIn(uri).map((test) => {
        const { range } = failureLocation(vs, folder.uri, test);
        const line = new vs.Range(range.start.line, 0, range.start.line, Number.MAX_SAFE_INTEGER);
        const text = `${test.name}: ${test.failure?.message ?? test.status}`;
        const diagnostic = new vs.Diagnostic(line, text, vs.DiagnosticSeverity.Warning);
        diagnostic.source = SOURCE;
        tests.set(keyOf(uri, diagnostic), test.id);
        return diagnostic;
      });
      collection.set(uri, diagnostics);
    }
  };

  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, _range, { diagnostics }) {
      return diagnostics.flatMap((diagnostic) => {
        const test =
          diagnostic.source === SOURCE ? tests.get(keyOf(document.uri, diagnostic)) : undefined;
        if (test === undefined) return [];
        const title = vs.l10n.t('Fix with Prime Agent');
        const action = new vs.CodeAction(title, vs.CodeActionKind.QuickFix);
        const target: FixTarget = { uri: document.uri, tests: [test] };
        action.command = { title, command: FIX, arguments: [target] };
        action.diagnostics = [diagnostic];
        return [action];
      });
    },
  };

  return vs.Disposable.from(
    collection,
    known.onDidChange(show),
    vs.languages.registerCodeActionsProvider({ scheme: 'file' }, provider, {
      providedCodeActionKinds: [vs.CodeActionKind.QuickFix],
    }),
  );
}

/** The editor moves the range of a diagnostic while people type; its text stays. */
function keyOf(uri: vscode.Uri, { message }: vscode.Diagnostic): string {
  return `${uri.toString()}\n${message}`;
}
