import type * as vscode from 'vscode';
import { REVIEW_SCHEME } from './documents.ts';
import { unitAtLine } from './lenses.ts';
import { openUnits, type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';
import { type Nodes, type ReviewNode, unitsOfNode } from './nodes.ts';

/** What the arguments of a command mean: rows of the tree, a document, or where the cursor is. */
export interface Targets {
  /** Rows that are meant; empty: the command came from somewhere else. */
  nodes(args: readonly unknown[]): readonly ReviewNode[];
  /** Of the rows, or of the cursor's place. */
  changes(args: readonly unknown[]): readonly Unit[];
  /** Of the rows, or of the document that is named or in front. */
  file(args: readonly unknown[]): readonly Unit[];
  /** The one that is meant, or the newest that is not decided. */
  review(args: readonly unknown[]): Review | undefined;
}

/** Argument of keybindings in the tree: the selected rows are meant. */
const SELECTION = 'selection';

export interface TargetsDeps {
  readonly vs: typeof vscode;
  readonly nodes: Nodes;
  readonly tree: Pick<vscode.TreeView<ReviewNode>, 'selection'>;
  readonly reviews: () => readonly Review[];
  /** Files under review that a document shows. */
  readonly filesOf: (uri: vscode.Uri) => readonly ReviewedFile[];
}

export function createTargets({ vs, nodes, tree, reviews, filesOf }: TargetsDeps): Targets {
  const rows = ([first, all]: readonly unknown[]): readonly ReviewNode[] => {
    if (first === SELECTION) return tree.selection;
    const many = Array.isArray(all) ? all.filter(nodes.isNode) : [];
    if (many.length > 0) return many;
    return nodes.isNode(first) ? [first] : [];
  };

  const atCursor = (): readonly Unit[] => {
    const editor = vs.window.activeTextEditor;
    if (!editor) return [];
    const { uri } = editor.document;
    for (const file of filesOf(uri)) {
      const unit = unitAtLine(file, editor.selection.active.line, uri.scheme === REVIEW_SCHEME);
      if (unit) return [unit];
    }
    return [];
  };

  const ofDocument = ([first]: readonly unknown[]): readonly Unit[] => {
    const uri = first instanceof vs.Uri ? first : vs.window.activeTextEditor?.document.uri;
    const [file] = uri ? filesOf(uri) : [];
    return file?.units ?? [];
  };

  const chosen = (args: readonly unknown[], otherwise: () => readonly Unit[]): readonly Unit[] => {
    const units = [...new Set(rows(args).flatMap(unitsOfNode))];
    return units.length > 0 || args[0] === SELECTION ? units : otherwise();
  };

  return {
    nodes: rows,
    changes: (args) => chosen(args, atCursor),
    file: (args) => chosen(args, () => ofDocument(args)),
    review(args) {
      const [node] = rows(args);
      const undecided = reviews().find((review) => openUnits(unitsOf(review)).length > 0);
      return node?.review ?? undecided ?? reviews()[0];
    },
  };
}
