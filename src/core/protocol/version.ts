/** Versions of the protocol that this program speaks, the one it likes best first. */
export const PROTOCOL_VERSIONS: readonly number[] = [2, 1];

/** From this one on a server takes the files that an attempt had before it (`archive.begin`). */
export const ARCHIVES_SINCE = 2;

export type Negotiation =
  | { readonly kind: 'agreed'; readonly version: number }
  | { readonly kind: 'none'; readonly message: string };

/**
 * The newest version that both sides speak.
 *
 * @param offered what the other side speaks, in any order.
 */
export function negotiate(
  offered: readonly number[],
  own: readonly number[] = PROTOCOL_VERSIONS,
): Negotiation {
  const common = own.filter((version) => offered.includes(version));
  if (common.length > 0) return { kind: 'agreed', version: Math.max(...common) };
  const theirs = offered.length === 0 ? 0 : Math.max(...offered);
  const older = theirs < Math.min(...own) ? 'the client' : 'the server';
  return {
    kind: 'none',
    message: `no common version of the protocol: the client speaks ${list(offered)}, the server ${list(own)}. Update ${older}.`,
  };
}

function list(versions: readonly number[]): string {
  return versions.length === 0 ? 'none' : [...versions].sort((a, b) => a - b).join(', ');
}
