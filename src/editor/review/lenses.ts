import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { REVIEW_SCHEME } from './documents.ts';
import { openUnits, type ReviewedFile, type Unit } from './model.ts';
import type { Nodes } from './nodes.ts';
import { toLines } from './patch/apply.ts';
import { conflictLabel, lineOf } from './words.ts';

const SHOW: CommandId = 'primeAgent.showChanges';
const ACCEPT: CommandId = 'primeAgent.acceptChange';
const DISCARD: CommandId = 'primeAgent.discardChange';

/** *Accept* and *Discard* above open changes, in the file itself and in what it would become. */
export function createReviewLenses(
  vs: typeof vscode,
  nodes: Nodes,
  filesOf: (uri: vscode.Uri) => readonly ReviewedFile[],
  changed: vscode.Event<void>,
): vscode.Disposable {
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed,
    provideCodeLenses(document) {
      const last = Math.max(0, toLines(document.getText()).length - 1);
      return filesOf(document.uri).flatMap((file) =>
        openUnits(file.units)
          .filter(({ change }) => change !== undefined)
          .flatMap((unit) => lensesOf(unit, document.uri.scheme === REVIEW_SCHEME, last)),
      );
    },
  };
  const lensesOf = (unit: Unit, proposed: boolean, last: number): vscode.CodeLens[] => {
    const conflict = unit.file.view.conflicts.get(unit);
    if (conflict !== undefined && proposed) return [];
    const line = Math.min(last, proposed ? proposedLine(unit) : lineOf(unit) - 1);
    const range = new vs.Range(line, 0, line, 0);
    const args = [nodes.unit(unit)];
    const lens = (title: string, command: CommandId): vscode.CodeLens =>
      new vs.CodeLens(range, { title, command, arguments: args });
    if (conflict !== undefined) {
      const title = vs.l10n.t('Prime Agent: {0}', conflictLabel(vs, conflict));
      return [lens(`$(warning) ${title}`, SHOW), lens(vs.l10n.t('Discard'), DISCARD)];
    }
    const counts = `+${unit.change?.added.length ?? 0} −${unit.change?.removed.length ?? 0}`;
    return [
      ...(proposed ? [] : [lens(`$(wand) ${vs.l10n.t('Prime Agent: {0}', counts)}`, SHOW)]),
      lens(vs.l10n.t('Accept'), ACCEPT),
      lens(vs.l10n.t('Discard'), DISCARD),
    ];
  };
  return vs.languages.registerCodeLensProvider(
    [{ scheme: 'file' }, { scheme: REVIEW_SCHEME }],
    provider,
  );
}

/** 0-based line of an open change in what its file would become. */
export function proposedLine(unit: Unit): number {
  const own = unit.file.view.places.get(unit);
  const at = own?.kind === 'found' ? own.at : lineOf(unit) - 1;
  return openUnits(unit.file.units).reduce((line, other) => {
    const place = unit.file.view.places.get(other);
    if (place?.kind !== 'found' || place.at >= at || !other.change) return line;
    return line + other.change.added.length - other.change.removed.length;
  }, at);
}

/** The open change that a line is in or next to; 0-based. */
export function unitAtLine(file: ReviewedFile, line: number, proposed: boolean): Unit | undefined {
  return openUnits(file.units).find((unit) => {
    const { change } = unit;
    if (!change) return true;
    const from = proposed ? proposedLine(unit) : lineOf(unit) - 1;
    const length = proposed ? change.added.length : change.removed.length;
    return line >= from - 1 && line <= from + length;
  });
}
