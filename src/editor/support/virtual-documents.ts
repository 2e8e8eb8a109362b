import type * as vscode from 'vscode';

/** Read-only documents that are no files: patches, transcripts. */
export interface VirtualDocuments extends vscode.Disposable {
  /** @param name what the tab shows; its extension decides the language */
  open(name: string, text: string): Promise<vscode.TextEditor>;
}

const SCHEME = 'prime-agent-text';

export function createVirtualDocuments(vs: typeof vscode): VirtualDocuments {
  const texts = new Map<string, string>();
  let count = 0;
  const parts = vs.Disposable.from(
    vs.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()),
    }),
    vs.workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString())),
  );
  return {
    async open(name, text) {
      count += 1;
      const uri = vs.Uri.from({ scheme: SCHEME, path: `/${name}`, query: String(count) });
      texts.set(uri.toString(), text);
      const document = await vs.workspace.openTextDocument(uri);
      return vs.window.showTextDocument(document, { preview: true });
    },
    dispose() {
      parts.dispose();
      texts.clear();
    },
  };
}
