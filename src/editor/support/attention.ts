import type * as vscode from 'vscode';

/** Has the user turned to something else since a command began? Then no list may take the keyboard. */
export interface Attention extends vscode.Disposable {
  isElsewhere(): boolean;
}

export function watchAttention(vs: typeof vscode): Attention {
  let elsewhere = false;
  const turn = (): void => {
    elsewhere = true;
  };
  const parts = vs.Disposable.from(
    vs.window.onDidChangeActiveTextEditor(turn),
    vs.window.onDidChangeTextEditorSelection(({ kind, textEditor }) => {
      // Without a kind it was no person; output channels scroll by themselves.
      if (kind !== undefined && textEditor.document.uri.scheme !== 'output') turn();
    }),
  );
  return { isElsewhere: () => elsewhere, dispose: () => parts.dispose() };
}
