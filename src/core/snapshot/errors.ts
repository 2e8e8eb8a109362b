export type SnapshotErrorCode =
  | 'not-a-folder'
  | 'git-missing'
  /** Git will not read the repository: it belongs to somebody else. */
  | 'git-refused'
  | 'git-failed'
  | 'no-space'
  | 'state-folder'
  | 'too-large';

/** A snapshot could not be made or read. The user's files are unchanged, and nothing is left behind. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code: SnapshotErrorCode;
  /** What to do about it, for people. */
  readonly remedy: string;
  constructor(code: SnapshotErrorCode, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

const NO_SPACE = ['ENOSPC', 'EDQUOT'];

/** Turns what the file system says about a full disk into words; anything else is passed through. */
export function explainFileError(error: unknown, folder: string): unknown {
  if (isErrno(error, ...NO_SPACE)) return noSpace(folder);
  if (isErrno(error, 'EROFS')) {
    return new SnapshotError(
      'state-folder',
      `Cannot write to ${folder}: the file system is read-only.`,
      'Set PRIME_AGENT_HOME to a folder that can be written to.',
    );
  }
  return error;
}

export function noSpace(folder: string): SnapshotError {
  return new SnapshotError(
    'no-space',
    `The disk is full: the snapshot does not fit into ${folder}.`,
    'Free some space, or set PRIME_AGENT_HOME to a folder on a disk with more room.',
  );
}
