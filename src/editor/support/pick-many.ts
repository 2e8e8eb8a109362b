import type * as vscode from 'vscode';

export interface PickManyOptions {
  readonly title: string;
  readonly placeholder: string;
  /** Closes the list. */
  readonly signal: AbortSignal;
}

/**
 * A list with boxes. Enter without a tick takes the row that is highlighted, which is what people
 * expect of it; with neither the list stays open.
 *
 * @returns undefined when it was closed
 */
export function pickMany<Item extends vscode.QuickPickItem>(
  vs: typeof vscode,
  items: readonly Item[],
  { title, placeholder, signal }: PickManyOptions,
): Promise<readonly Item[] | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const list = vs.window.createQuickPick<Item>();
  list.canSelectMany = true;
  list.title = title;
  list.placeholder = placeholder;
  list.matchOnDescription = true;
  list.ignoreFocusOut = true;
  list.items = items;
  list.selectedItems = items.filter(({ picked }) => picked === true);
  const hide = (): void => list.hide();
  signal.addEventListener('abort', hide, { once: true });
  return new Promise((resolve) => {
    list.onDidAccept(() => {
      const chosen = list.selectedItems.length > 0 ? list.selectedItems : list.activeItems;
      if (chosen.length === 0) return;
      resolve(chosen);
      list.hide();
    });
    list.onDidHide(() => {
      signal.removeEventListener('abort', hide);
      list.dispose();
      resolve(undefined);
    });
    list.show();
  });
}
