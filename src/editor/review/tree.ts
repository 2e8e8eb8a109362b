import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { namesOf } from '../tests/test-tree.ts';
import { openUnits, type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';
import type { Nodes, ReviewNode } from './nodes.ts';
import {
  changeLabel,
  changesText,
  conflictLabel,
  decisionText,
  fileNotes,
  lineOf,
  outcomeText,
} from './words.ts';

const SHOW: CommandId = 'primeAgent.showChanges';
const EVIDENCE: CommandId = 'primeAgent.showEvidence';

/** The reviews with their evidence, their files, and in these the changes. */
export function createReviewTree(
  vs: typeof vscode,
  nodes: Nodes,
  reviews: () => readonly Review[],
  changed: vscode.Event<void>,
): vscode.TreeDataProvider<ReviewNode> {
  return {
    onDidChangeTreeData: changed,
    getChildren(node) {
      if (node === undefined) return reviews().map(nodes.review);
      switch (node.kind) {
        case 'review':
          return [nodes.evidence(node.review), ...node.review.files.map(nodes.file)];
        case 'evidence':
          return node.review.input.tests.map((test) => nodes.test(node.review, test));
        case 'file':
          return node.file.content.kind === 'text' ? node.file.units.map(nodes.unit) : [];
        case 'unit':
        case 'test':
          return [];
      }
    },
    getParent(node) {
      switch (node.kind) {
        case 'review':
          return undefined;
        case 'evidence':
        case 'file':
          return nodes.review(node.review);
        case 'test':
          return nodes.evidence(node.review);
        case 'unit':
          return nodes.file(node.unit.file);
      }
    },
    getTreeItem(node) {
      const item = itemOf(vs, node);
      item.id = idOf(node);
      return item;
    },
  };
}

function itemOf(vs: typeof vscode, node: ReviewNode): vscode.TreeItem {
  switch (node.kind) {
    case 'review':
      return reviewItem(vs, node.review, node);
    case 'evidence':
      return evidenceItem(vs, node.review, node);
    case 'test':
      return testItem(vs, node);
    case 'file':
      return fileItem(vs, node.file, node);
    case 'unit':
      return unitItem(vs, node.unit, node);
  }
}

function reviewItem(vs: typeof vscode, review: Review, node: ReviewNode): vscode.TreeItem {
  const units = unitsOf(review);
  const item = new vs.TreeItem(review.title, vs.TreeItemCollapsibleState.Expanded);
  const decided = decisionText(vs, units);
  item.description = [outcomeText(vs, review), decided].filter(Boolean).join(' · ');
  item.contextValue = decided === undefined ? 'review.open' : 'review.done';
  item.iconPath = icon(vs, review.input.outcome === 'solved' ? 'wand' : 'warning');
  item.command = { command: SHOW, title: vs.l10n.t('Show Changes'), arguments: [node] };
  return item;
}

function evidenceItem(vs: typeof vscode, review: Review, node: ReviewNode): vscode.TreeItem {
  const { l10n } = vs;
  const { tests, stillPassing, flags } = review.input;
  const passing = tests.filter(({ after }) => after === 'passed').length;
  const label =
    tests.length === 1 && passing === 1
      ? l10n.t('The test passes now')
      : l10n.t('{0} of {1} tests pass now', passing, tests.length);
  const item = new vs.TreeItem(label, vs.TreeItemCollapsibleState.Collapsed);
  const { rerun } = review;
  item.description = [
    ...(rerun === 'running' ? [l10n.t('running in the workspace …')] : []),
    ...(rerun !== undefined && rerun !== 'running'
      ? [
          rerun.failed.length === 0
            ? l10n.t('pass in the workspace, too')
            : l10n.t('in the workspace {0} fail', rerun.failed.length),
        ]
      : []),
    stillPassing === 1
      ? l10n.t('1 other still passes')
      : l10n.t('{0} others still pass', stillPassing),
    ...(flags.length === 1 ? [l10n.t('1 warning')] : []),
    ...(flags.length > 1 ? [l10n.t('{0} warnings', flags.length)] : []),
  ].join(' · ');
  const doubtful = review.input.outcome !== 'solved' || flags.length > 0;
  item.iconPath = icon(vs, doubtful ? 'warning' : 'pass');
  item.contextValue = 'evidence';
  item.tooltip = l10n.t('Show the summary and the tests before and after');
  item.command = { command: EVIDENCE, title: l10n.t('Show Summary and Tests'), arguments: [node] };
  return item;
}

function testItem(
  vs: typeof vscode,
  { review, test }: Extract<ReviewNode, { kind: 'test' }>,
): vscode.TreeItem {
  const { l10n } = vs;
  const names = namesOf(test.id);
  const item = new vs.TreeItem(names.at(-1) ?? test.id);
  item.description =
    test.after === 'passed'
      ? l10n.t('{0} before, passes now', test.before.status)
      : l10n.t('{0} before, still fails', test.before.status);
  item.iconPath = icon(vs, test.after === 'passed' ? 'pass' : 'error');
  item.tooltip = [test.id, test.before.failure?.message, test.reason].filter(Boolean).join('\n\n');
  item.contextValue = 'test';
  const line = Math.max(0, (test.line ?? 1) - 1);
  item.command = {
    command: 'vscode.open',
    title: l10n.t('Show Test'),
    arguments: [
      vs.Uri.joinPath(review.input.folder.uri, test.file),
      { selection: new vs.Range(line, 0, line, 0), preserveFocus: true, preview: true },
    ],
  };
  return item;
}

function fileItem(vs: typeof vscode, file: ReviewedFile, node: ReviewNode): vscode.TreeItem {
  const isText = file.content.kind === 'text';
  const { None, Expanded } = vs.TreeItemCollapsibleState;
  const item = new vs.TreeItem(file.uri, isText ? Expanded : None);
  const { path } = file.file;
  item.label = path.slice(path.lastIndexOf('/') + 1);
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const conflicts = openUnits(file.units).flatMap((unit) => file.view.conflicts.get(unit) ?? []);
  const [conflict] = conflicts;
  const decided = decisionText(vs, file.units);
  const notes = [
    ...(folder === '' ? [] : [folder]),
    ...fileNotes(vs, file),
    ...(isText && decided === undefined ? [changesText(vs, file.units.length)] : []),
    ...(decided === undefined ? [] : [decided]),
    ...(conflict === undefined ? [] : [conflictLabel(vs, conflict)]),
  ];
  item.description = notes.join(' · ');
  item.contextValue = decided === undefined ? 'file.open' : 'file.done';
  if (conflict !== undefined) item.iconPath = icon(vs, 'warning', 'list.warningForeground');
  else item.iconPath = vs.ThemeIcon.File;
  item.accessibilityInformation = { label: [path, ...notes].join(', ') };
  item.command = { command: SHOW, title: vs.l10n.t('Show Changes'), arguments: [node] };
  return item;
}

const ICONS = { open: 'diff-modified', accepted: 'check', discarded: 'circle-slash' } as const;

function unitItem(vs: typeof vscode, unit: Unit, node: ReviewNode): vscode.TreeItem {
  const { l10n } = vs;
  const { change, decision, file } = unit;
  const conflict = decision === 'open' ? file.view.conflicts.get(unit) : undefined;
  const item = new vs.TreeItem(changeLabel(vs, unit));
  const counts = `+${change?.added.length ?? 0} −${change?.removed.length ?? 0}`;
  const state =
    conflict === undefined
      ? { open: undefined, accepted: l10n.t('accepted'), discarded: l10n.t('discarded') }[decision]
      : conflictLabel(vs, conflict);
  const line = l10n.t('line {0}', lineOf(unit));
  item.description = [line, counts, state].filter(Boolean).join(' · ');
  item.contextValue = `change.${decision}`;
  item.iconPath =
    conflict === undefined
      ? icon(vs, ICONS[decision])
      : icon(vs, 'warning', 'list.warningForeground');
  if (change) item.tooltip = tooltip(vs, unit);
  item.accessibilityInformation = {
    label: [
      l10n.t('change in line {0}', lineOf(unit)),
      l10n.t('adds {0} lines, removes {1}', change?.added.length ?? 0, change?.removed.length ?? 0),
      changeLabel(vs, unit),
      state ?? l10n.t('not decided'),
    ].join(', '),
  };
  item.command = { command: SHOW, title: l10n.t('Show Changes'), arguments: [node] };
  return item;
}

function tooltip(vs: typeof vscode, { change }: Unit): vscode.MarkdownString {
  const lines = [
    ...(change?.before.slice(-3) ?? []).map((line) => ` ${line}`),
    ...(change?.removed ?? []).map((line) => `-${line}`),
    ...(change?.added ?? []).map((line) => `+${line}`),
    ...(change?.after.slice(0, 3) ?? []).map((line) => ` ${line}`),
  ];
  const text = new vs.MarkdownString();
  return text.appendCodeblock(lines.slice(0, 40).join('\n'), 'diff');
}

function icon(vs: typeof vscode, name: string, color?: string): vscode.ThemeIcon {
  return color === undefined
    ? new vs.ThemeIcon(name)
    : new vs.ThemeIcon(name, new vs.ThemeColor(color));
}

function idOf(node: ReviewNode): string {
  const { id } = node.review;
  switch (node.kind) {
    case 'review':
      return id;
    case 'evidence':
      return `${id} tests`;
    case 'test':
      return `${id} test ${node.test.id}`;
    case 'file':
      return `${id} file ${node.file.file.path}`;
    case 'unit':
      return `${id} change ${node.unit.index} ${node.unit.file.file.path}`;
  }
}
