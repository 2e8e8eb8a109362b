import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { CONTEXT_KEYS } from '../contract/context-keys.ts';
import { VIEWS } from '../contract/views.ts';
import type { FixTarget } from '../ports.ts';
import { attemptItem } from './attempt-item.ts';
import type { AttemptsModel } from './attempts-model.ts';
import { groupItem } from './group-item.ts';
import { type AttemptGroup, type Grouping, groupAttempts } from './groups.ts';
import type { ListedAttempt } from './listed.ts';

export type AttemptNode =
  | {
      readonly kind: 'attempt';
      readonly attempt: ListedAttempt;
      /** For `primeAgent.fixTest`. */
      readonly fixTarget: FixTarget;
      readonly named: boolean;
    }
  | { readonly kind: 'group'; readonly group: AttemptGroup; readonly first: boolean }
  | { readonly kind: 'more'; readonly key: string; readonly left: number };

export interface AttemptsTree extends vscode.Disposable {
  groupBy(grouping: Grouping): Promise<void>;
  /** Shows the next of a long list. */
  showMore(node: unknown): void;
  /** A few words beside the view's name. */
  describe(text: string | undefined): void;
  /** The attempt of a row; undefined: the argument is none. */
  attemptOf(node: unknown): ListedAttempt | undefined;
  /** Attempts among the arguments of a command of the view; without any: what is selected in it. */
  chosen(args: readonly unknown[]): readonly ListedAttempt[];
}

/** Rows of one level that are shown at once: each row is sent to the window, seen or not. */
export const PAGE = 200;
const GROUPING = 'attempts.grouping';
const MORE: CommandId = 'primeAgent.showMoreAttempts';
/** Of the top level. */
const ROOT = '';

export function createAttemptsTree(
  vs: typeof vscode,
  model: AttemptsModel,
  memento: vscode.Memento,
  now: () => Date = () => new Date(),
): AttemptsTree {
  const changed = new vs.EventEmitter<AttemptNode | undefined>();
  /** Nodes of attempts that go on: a change redraws its row alone. */
  const liveNodes = new Map<string, AttemptNode>();
  const shown = new Map<string, number>();
  let grouping: Grouping = memento.get(GROUPING) === 'fix' ? 'fix' : 'day';
  void vs.commands.executeCommand('setContext', CONTEXT_KEYS.attemptsGrouping, grouping);

  const paged = <Item>(
    key: string,
    items: readonly Item[],
    nodeOf: (item: Item, index: number) => AttemptNode,
  ): AttemptNode[] => {
    const limit = shown.get(key) ?? PAGE;
    const nodes = items.slice(0, limit).map(nodeOf);
    const left = items.length - nodes.length;
    return left > 0 ? [...nodes, { kind: 'more', key, left }] : nodes;
  };

  const provider: vscode.TreeDataProvider<AttemptNode> = {
    onDidChangeTreeData: changed.event,
    async getChildren(node) {
      if (node?.kind === 'group') {
        const named = node.group.grouping === 'day';
        return paged(groupKey(node.group), node.group.attempts, (attempt) =>
          attemptNode(attempt, named),
        );
      }
      if (node !== undefined) return [];
      const recorded = await model.recorded();
      liveNodes.clear();
      const running = model.running().map((attempt) => {
        const made = attemptNode(attempt, true);
        liveNodes.set(attempt.id, made);
        return made;
      });
      const groups = groupAttempts(recorded, grouping);
      return [
        ...running,
        ...paged(ROOT, groups, (group, at) => ({ kind: 'group', group, first: at === 0 })),
      ];
    },
    getTreeItem(node) {
      switch (node.kind) {
        case 'attempt': {
          const current = model.running().find(({ id }) => id === node.attempt.id);
          return attemptItem(vs, current ?? node.attempt, node.named, node);
        }
        case 'group':
          return groupItem(vs, node.group, now(), node.first);
        case 'more':
          return moreItem(vs, node);
      }
    },
  };

  const view = vs.window.createTreeView(VIEWS.attempts, {
    treeDataProvider: provider,
    canSelectMany: true,
    showCollapseAll: true,
  });
  const countRunning = (): void => {
    const value = model.running().length;
    const tooltip =
      value === 1
        ? vs.l10n.t('1 attempt is running')
        : vs.l10n.t('{0} attempts are running', value);
    view.badge = value === 0 ? undefined : { value, tooltip };
  };
  const parts = vs.Disposable.from(
    model.onDidChange((attemptId) => {
      if (attemptId === undefined) {
        countRunning();
        changed.fire(undefined);
      } else {
        const node = liveNodes.get(attemptId);
        if (node) changed.fire(node);
      }
    }),
    view,
    changed,
  );

  return {
    describe(text) {
      view.description = text ?? '';
    },
    async groupBy(wanted) {
      grouping = wanted;
      shown.clear();
      await memento.update(GROUPING, wanted);
      await vs.commands.executeCommand('setContext', CONTEXT_KEYS.attemptsGrouping, wanted);
      changed.fire(undefined);
    },
    showMore(node) {
      if (!isNode(node) || node.kind !== 'more') return;
      shown.set(node.key, (shown.get(node.key) ?? PAGE) + PAGE);
      changed.fire(undefined);
    },
    attemptOf: (node) => (isNode(node) && node.kind === 'attempt' ? node.attempt : undefined),
    chosen([first, all]) {
      const given = Array.isArray(all) && all.length > 0 ? all : [first];
      const nodes = given.filter(isNode);
      const attempts = (nodes.length > 0 ? nodes : view.selection).flatMap((node) =>
        node.kind === 'attempt' ? [node.attempt] : node.kind === 'group' ? node.group.attempts : [],
      );
      return [...new Map(attempts.map((attempt) => [attempt.id, attempt])).values()];
    },
    dispose: () => parts.dispose(),
  };
}

function attemptNode(attempt: ListedAttempt, named: boolean): AttemptNode {
  const fixTarget = { uri: attempt.folder.uri, tests: attempt.targets };
  return { kind: 'attempt', attempt, fixTarget, named };
}

function groupKey({ grouping, key }: AttemptGroup): string {
  return `${grouping} ${key}`;
}

function moreItem(
  vs: typeof vscode,
  node: Extract<AttemptNode, { kind: 'more' }>,
): vscode.TreeItem {
  const label = vs.l10n.t('Show more ({0} left)', node.left);
  const item = new vs.TreeItem(label, vs.TreeItemCollapsibleState.None);
  item.id = `more ${node.key}`;
  item.iconPath = new vs.ThemeIcon('ellipsis');
  item.command = { title: label, command: MORE, arguments: [node] };
  return item;
}

function isNode(value: unknown): value is AttemptNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'attempt' || value.kind === 'group' || value.kind === 'more')
  );
}
