import { join, relative, sep } from 'node:path';
import type * as vscode from 'vscode';

export const TRANSCRIPT_SCHEME = 'prime-agent-transcript';

/** Shows a record: without a record's own path, so that a tab that is restored names nothing else. */
export interface TranscriptAddress {
  /** Absolute path of the record. */
  readonly path: string;
  readonly whole: boolean;
}

const RECORD = /^([0-9a-f]{16})\/([A-Za-z0-9][A-Za-z0-9_.-]{0,127})\.jsonl$/;
const ADDRESS = /^\/([0-9a-f]{16})\/([A-Za-z0-9][A-Za-z0-9_.-]{0,127})\//;
const WHOLE = 'whole';

/**
 * @param root where all records are
 * @param title of the tab
 * @returns undefined: this is no record of the root
 */
export function transcriptUri(
  vs: typeof vscode,
  root: string,
  { path, whole }: TranscriptAddress,
  title: string,
): vscode.Uri | undefined {
  const match = RECORD.exec(relative(root, path).split(sep).join('/'));
  if (!match) return undefined;
  const [, folder = '', id = ''] = match;
  return vs.Uri.from({
    scheme: TRANSCRIPT_SCHEME,
    path: `/${folder}/${id}/${fileName(title)}.md`,
    query: whole ? WHOLE : '',
  });
}

export function readTranscriptUri(
  root: string,
  uri: Pick<vscode.Uri, 'scheme' | 'path' | 'query'>,
): TranscriptAddress | undefined {
  const match = uri.scheme === TRANSCRIPT_SCHEME ? ADDRESS.exec(uri.path) : null;
  if (!match) return undefined;
  const [, folder = '', id = ''] = match;
  return { path: join(root, folder, `${id}.jsonl`), whole: uri.query === WHOLE };
}

/** Without separators and what file names cannot hold. */
function fileName(title: string): string {
  const plain = title.replace(/[\s/\\:*?"<>|#%\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 79)}…` : plain;
}
