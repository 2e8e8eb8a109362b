import type * as vscode from 'vscode';
import { toAtif, toJsonLines } from '../../core/trajectories/export.ts';
import type { Trajectory } from '../../core/trajectories/trajectory.ts';

export type ExportFormat = 'atif' | 'jsonl';

/** One ATIF document is JSON; several, and the records' own lines, are JSON Lines. */
export function exportText(trajectories: readonly Trajectory[], format: ExportFormat): string {
  if (format === 'jsonl') return trajectories.map(toJsonLines).join('');
  const [only] = trajectories;
  if (only && trajectories.length === 1) return `${JSON.stringify(toAtif(only), null, 2)}\n`;
  return trajectories.map((each) => `${JSON.stringify(toAtif(each))}\n`).join('');
}

export function exportName(ids: readonly string[], format: ExportFormat): string {
  const [first = 'attempts'] = ids;
  const name = ids.length === 1 ? first : `${first}-${ids.length}`;
  if (format === 'jsonl') return `${name}.jsonl`;
  return ids.length === 1 ? `${name}.atif.json` : `${name}.atif.jsonl`;
}

export async function askFormat({
  window,
  l10n,
}: typeof vscode): Promise<ExportFormat | undefined> {
  const items: readonly (vscode.QuickPickItem & { readonly format: ExportFormat })[] = [
    {
      label: 'ATIF',
      description: l10n.t('interchange format, version 1.7'),
      format: 'atif',
    },
    {
      label: 'JSON Lines',
      description: l10n.t('the record’s own lines, which the command line reads'),
      format: 'jsonl',
    },
  ];
  return (await window.showQuickPick(items, { title: l10n.t('Format of the export') }))?.format;
}
