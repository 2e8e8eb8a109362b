import type * as vscode from 'vscode';

/**
 * Tests see what is on disk. As with every test run of the editor, unsaved files are saved first,
 * unless the user has switched that off (testing.saveBeforeTest).
 */
export async function saveBeforeTest(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
): Promise<void> {
  const testing = vs.workspace.getConfiguration('testing', folder.uri);
  if (testing.get('saveBeforeTest') === false) return;
  const unsaved = vs.workspace.textDocuments.filter(
    ({ isDirty, uri }) =>
      isDirty &&
      uri.scheme === 'file' &&
      vs.workspace.getWorkspaceFolder(uri)?.uri.toString() === folder.uri.toString(),
  );
  await Promise.all(unsaved.map((document) => document.save()));
}
