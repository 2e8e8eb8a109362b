import type { Redactor } from '../agent/redactor.ts';
import { MARKER } from '../redaction/finding.ts';
import type { Trajectory } from './trajectory.ts';

/** Why a record must stay on this machine. Consent is asked for elsewhere, and later. */
export type LocalReason =
  | { readonly kind: 'unfinished' }
  /** A secret was found in a sampled turn when it was sampled. */
  | { readonly kind: 'local-only' }
  /** Scanning the record again found something. */
  | { readonly kind: 'secret-found'; readonly where: string }
  /** The patch was redacted, so no server could apply and check it. */
  | { readonly kind: 'patch-redacted' };

/** Empty: nothing speaks against uploading. Scans the whole record again with today's rules. */
export async function uploadable(
  trajectory: Trajectory,
  redactor: Redactor,
): Promise<readonly LocalReason[]> {
  const { header, turns, end } = trajectory;
  const reasons: LocalReason[] = [];
  if (!end) reasons.push({ kind: 'unfinished' });
  if (end?.localOnly) reasons.push({ kind: 'local-only' });
  if (end && (end.patchRedacted === true || end.patch.includes(MARKER))) {
    reasons.push({ kind: 'patch-redacted' });
  }
  const places: [string, unknown][] = [
    ['header', header],
    ...turns.map((turn): [string, unknown] => [`turn ${turn.index}`, turn]),
    ['end', end],
  ];
  for (const [where, value] of places) {
    for (const text of texts(value)) {
      if (!(await redactor.holdsSecret(text))) continue;
      reasons.push({ kind: 'secret-found', where });
      break;
    }
  }
  return reasons;
}

export function describeLocalReason(reason: LocalReason): string {
  switch (reason.kind) {
    case 'unfinished':
      return 'the attempt has no end';
    case 'local-only':
      return 'a secret was found in what the policy wrote';
    case 'secret-found':
      return `a secret was found in its ${reason.where}`;
    case 'patch-redacted':
      return 'its patch holds a redacted place and could not be checked elsewhere';
  }
}

/** Every text in a value. Id arrays hold none. */
function* texts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return;
    for (const item of value) yield* texts(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* texts(item);
    }
  }
}
