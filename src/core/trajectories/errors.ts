/** A record cannot be written: a fault of the machine, so the attempt is `invalid`, never a 0. */
export class TrajectoryWriteError extends Error {
  override readonly name = 'TrajectoryWriteError';
  readonly code: 'no-space' | 'permission' | 'exists' | 'other';
  /** What to do about it, for people. */
  readonly remedy: string;
  constructor(code: TrajectoryWriteError['code'], message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** A record cannot be read: says file, line and field. */
export class TrajectoryFormatError extends Error {
  override readonly name = 'TrajectoryFormatError';
  /** Path or name of what was read. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  constructor(file: string, line: number, problem: string) {
    super(`${file}, line ${line}: ${problem}`);
    this.file = file;
    this.line = line;
  }
}

export function writeErrorOf(error: unknown, what: string): TrajectoryWriteError {
  if (error instanceof TrajectoryWriteError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = error instanceof Error ? error.message : String(error);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new TrajectoryWriteError(
        'no-space',
        `cannot write ${what}: no space left on the disk`,
        'Free some space, or set PRIME_AGENT_HOME to a folder on another disk.',
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new TrajectoryWriteError(
        'permission',
        `cannot write ${what}: the folder is not writable (${code})`,
        'Make it writable, or set PRIME_AGENT_HOME to a folder that is.',
      );
    case 'EEXIST':
      return new TrajectoryWriteError(
        'exists',
        `cannot write ${what}: there is already a record of this attempt`,
        'Use a new attempt id: records are never overwritten.',
      );
    default:
      return new TrajectoryWriteError(
        'other',
        `cannot write ${what}: ${why}`,
        'Check the folder under PRIME_AGENT_HOME (`prime-agent doctor` names it).',
      );
  }
}
