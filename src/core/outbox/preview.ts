import type { Redactor } from '../agent/redactor.ts';
import { toJsonLines } from '../trajectories/export.ts';
import type { Trajectory } from '../trajectories/trajectory.ts';
import { type LocalReason, uploadable } from '../trajectories/uploadable.ts';
import type { AttemptFiles, FindFiles } from './files.ts';

/** What would leave this machine with an attempt, for a person to judge. */
export interface Preview {
  readonly attemptId: string;
  readonly workspaceName: string;
  readonly targets: readonly string[];
  readonly policy: string;
  readonly outcome: string;
  /** What it is made of; nothing of a record is in none of these. */
  readonly parts: readonly PreviewPart[];
  /** Tokens that were recorded with the texts. */
  readonly tokens: number;
  /** Calls of tools, in their order, one line each. */
  readonly calls: readonly string[];
  /** Files that the patch changes. */
  readonly changed: readonly string[];
  readonly patch: string;
  /** What was taken out before it was recorded, by kind. */
  readonly redactions: readonly { readonly kind: string; readonly count: number }[];
  /** Empty: it may leave this machine. */
  readonly stays: readonly LocalReason[];
  /** The very text that would be sent (packed). */
  readonly content: string;
  /** The files that the attempt had before it, sent beside it; undefined: they were not asked for. */
  readonly files?: FilesPreview;
}

/** Without the bytes, for reports. */
export type FilesPreview =
  | (Omit<Extract<AttemptFiles, { readonly kind: 'archive' }>, 'bytes'> & {
      readonly packedBytes: number;
    })
  | Extract<AttemptFiles, { readonly kind: 'none' }>;

export interface PreviewPart {
  readonly name: 'messages' | 'replies' | 'observations' | 'patch' | 'facts';
  readonly count: number;
  /** UTF-8, of the texts. */
  readonly bytes: number;
}

/** Of one call. */
const CALL_CHARACTERS = 120;

/**
 * @param redactor of today: what it finds now, that it did not when the attempt was made, keeps it here.
 * @param findFiles where the files of attempts are to be shown, and so may be allowed
 */
export async function previewOf(
  trajectory: Trajectory,
  redactor: Redactor,
  findFiles?: FindFiles,
): Promise<Preview> {
  const { header, turns, end } = trajectory;
  const content = toJsonLines(trajectory);
  const messages = header.messages.map((message) => message.content);
  const replies = turns.map(({ reply }) => [
    reply.content,
    reply.reasoning ?? '',
    ...reply.calls.map((call) => JSON.stringify(call.arguments)),
    ...reply.malformed.map(({ text }) => text),
  ]);
  const observations = turns.flatMap((turn) => [
    ...turn.observations.map((observation) => observation.content),
    ...(turn.nudge === undefined ? [] : [turn.nudge]),
  ]);
  const patch = end?.patch ?? '';
  const parts: PreviewPart[] = [
    { name: 'messages', count: messages.length, bytes: bytesOf(messages) },
    { name: 'replies', count: replies.length, bytes: bytesOf(replies.flat()) },
    { name: 'observations', count: observations.length, bytes: bytesOf(observations) },
    { name: 'patch', count: patch === '' ? 0 : 1, bytes: bytesOf([patch]) },
  ];
  const known = parts.reduce((sum, part) => sum + part.bytes, 0);
  return {
    attemptId: header.attemptId,
    workspaceName: header.task.workspaceName,
    targets: header.task.targets,
    policy: header.policy.label,
    outcome: end?.outcome ?? 'unfinished',
    // Ids, hashes, settings, times, token ids and log-probabilities, and the quotes around texts.
    parts: [
      ...parts,
      {
        name: 'facts',
        count: 2 + turns.length,
        bytes: Math.max(0, Buffer.byteLength(content) - known),
      },
    ],
    tokens: turns.reduce((sum, { reply }) => sum + (reply.tokens?.sampledIds.length ?? 0), 0),
    calls: turns.flatMap(({ reply }) =>
      reply.calls.map((call) => shorten(`${call.name} ${JSON.stringify(call.arguments)}`)),
    ),
    changed: [...patch.matchAll(/^diff --git a\/.* b\/(.*)$|^\+\+\+ b\/(.*)$/gm)]
      .map(([, both, after]) => both ?? after ?? '')
      .filter((name, index, all) => all.indexOf(name) === index),
    patch,
    redactions: redactionsIn(content),
    stays: await uploadable(trajectory, redactor),
    content,
    ...(findFiles && { files: withoutBytes(await findFiles(header.task)) }),
  };
}

function withoutBytes(files: AttemptFiles): FilesPreview {
  if (files.kind === 'none') return files;
  const { bytes, ...rest } = files;
  return { ...rest, packedBytes: bytes.length };
}

function redactionsIn(content: string): Preview['redactions'] {
  const counts = new Map<string, number>();
  for (const [, kind = ''] of content.matchAll(/\[redacted:([a-z0-9-]+)\]/g)) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort().map(([kind, count]) => ({ kind, count }));
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function shorten(text: string): string {
  return text.length <= CALL_CHARACTERS ? text : `${text.slice(0, CALL_CHARACTERS - 1)}…`;
}
