import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { affectsSettings, readSettings } from '../contract/settings.ts';
import type { FixTarget } from '../ports.ts';
import type { KnownTests } from './known-tests.ts';
import { currentLine } from './test-line.ts';
import { namesOf } from './test-tree.ts';

const FIX: CommandId = 'primeAgent.fixTest';

/** *Fix with Prime Agent* above every test that is known to fail. */
export function createCodeLenses(vs: typeof vscode, known: KnownTests): vscode.Disposable {
  const changed = new vs.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses(document) {
      const failing = known.failingIn(document.uri);
      if (failing.length === 0 || !readSettings(vs, document.uri).codeLens) return [];
      const lines = document.getText().split(/\r?\n/);
      return failing.map((test) => {
        const line = currentLine(lines, namesOf(test.id).at(-1) ?? test.name, test.line);
        const target: FixTarget = { uri: document.uri, tests: [test.id] };
        return new vs.CodeLens(new vs.Range(line, 0, line, 0), {
          title: `$(wand) ${vs.l10n.t('Fix with Prime Agent')}`,
          tooltip: test.failure?.message,
          command: FIX,
          arguments: [target],
        });
      });
    },
  };
  const parts = [
    changed,
    vs.languages.registerCodeLensProvider({ scheme: 'file' }, provider),
    known.onDidChange(() => changed.fire()),
    vs.workspace.onDidChangeConfiguration((event) => {
      if (affectsSettings(event, 'codeLens')) changed.fire();
    }),
  ];
  return vs.Disposable.from(...parts);
}
