import type * as vscode from 'vscode';
import type { PatchedFile } from './diff.ts';

/** Both sides of a diff as read-only documents, with the language that the file's name says. */
export interface DiffDocuments extends vscode.Disposable {
  open(id: string, title: string, files: readonly PatchedFile[]): Promise<void>;
}

const SCHEME = 'prime-agent-attempt';

export function createDiffDocuments(vs: typeof vscode): DiffDocuments {
  const texts = new Map<string, string>();
  const put = (id: string, side: string, path: string, text: string | undefined) => {
    if (text === undefined) return undefined;
    const uri = vs.Uri.from({ scheme: SCHEME, path: `/${path}`, query: `${id} ${side}` });
    texts.set(uri.toString(), text);
    return uri;
  };
  const parts = vs.Disposable.from(
    vs.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) =>
        texts.get(uri.toString()) ??
        vs.l10n.t('This was shown by an earlier window. Open the diff of the attempt again.'),
    }),
    vs.workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString())),
  );
  return {
    async open(id, title, files) {
      const resources = files.map(({ path, before, after }) => [
        vs.Uri.from({ scheme: SCHEME, path: `/${path}`, query: id }),
        put(id, 'before', path, before),
        put(id, 'after', path, after),
      ]);
      await vs.commands.executeCommand('vscode.changes', title, resources);
    },
    dispose() {
      parts.dispose();
      texts.clear();
    },
  };
}
