import { access, constants } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { commandAction, type MessageAction, type Refusal } from '../support/messages.ts';

export type FolderChoice =
  | { readonly kind: 'folder'; readonly folder: vscode.WorkspaceFolder }
  /** The user closed the list. */
  | { readonly kind: 'none' }
  | Refusal;

/**
 * The folder that a command is about: the one of `uri`, the only one, or the one that is chosen from
 * a list with the active editor's first. Says why where none can be worked on.
 */
export async function chooseFolder(vs: typeof vscode, uri?: vscode.Uri): Promise<FolderChoice> {
  const { workspace, l10n } = vs;
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    return refused(
      l10n.t('No folder is open. Open the folder of the repository whose tests fail.'),
      [commandAction(vs, l10n.t('Open Folder…'), 'workbench.action.files.openFolder')],
    );
  }
  if (!workspace.isTrusted) {
    return refused(
      l10n.t('Prime Agent runs the tests of a folder, so it works only in folders that you trust.'),
      [commandAction(vs, l10n.t('Manage Workspace Trust'), 'workbench.trust.manage')],
    );
  }
  const local = folders.filter((folder) => folder.uri.scheme === 'file');
  if (local.length === 0) {
    return refused(
      l10n.t(
        'This workspace has no folder on disk ({0}). Clone the repository and open the clone.',
        folders[0]?.uri.scheme ?? '',
      ),
      [commandAction(vs, l10n.t('Clone Repository…'), 'git.clone')],
    );
  }
  if (uri !== undefined) {
    const folder = workspace.getWorkspaceFolder(uri);
    if (folder !== undefined && local.includes(folder)) return { kind: 'folder', folder };
    return refused(
      l10n.t('{0} is not in a folder of this workspace. Add its folder first.', uri.path),
      [commandAction(vs, l10n.t('Add Folder…'), 'workbench.action.addRootFolder')],
    );
  }
  const sorted = activeFirst(vs, local);
  const [only] = sorted;
  if (sorted.length === 1 && only !== undefined) return { kind: 'folder', folder: only };
  const picked = await vs.window.showQuickPick(
    sorted.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    { title: 'Prime Agent', placeHolder: l10n.t('Folder whose tests fail') },
  );
  return picked === undefined ? { kind: 'none' } : { kind: 'folder', folder: picked.folder };
}

/** Attempts do not write into the folder, but what they find could not be taken over. */
export async function isWritable(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
): Promise<boolean> {
  if (vs.workspace.fs.isWritableFileSystem(folder.uri.scheme) === false) return false;
  return access(folder.uri.fsPath, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function activeFirst(
  vs: typeof vscode,
  folders: readonly vscode.WorkspaceFolder[],
): readonly vscode.WorkspaceFolder[] {
  const document = vs.window.activeTextEditor?.document;
  const active = document && vs.workspace.getWorkspaceFolder(document.uri);
  if (active === undefined || !folders.includes(active)) return folders;
  return [active, ...folders.filter((folder) => folder !== active)];
}

function refused(text: string, actions: readonly MessageAction[]): Refusal {
  return { kind: 'refused', level: 'warning', text, actions };
}
