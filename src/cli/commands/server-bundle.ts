import type * as entry from '../../../server/src/entry.ts';

export interface PlaceOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: number;
}

/** Loads the server, which no other command needs. Rejects with a message that says what is missing. */
export async function loadServer(): Promise<typeof entry> {
  try {
    return await import('../../../server/src/entry.ts');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the training server cannot be loaded: ${why}`);
  }
}

/**
 * The database is native code, which is loaded when it is first opened: an installation that ran no
 * install scripts has none.
 */
export function explainMissingDatabase(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!/better_sqlite3\.node|better-sqlite3|bindings file/.test(error.message)) return error;
  return new Error(
    `the database of the training server (better-sqlite3) is not built for this Node: ${error.message.split('\n')[0]}. Build it with: npm run build:sqlite (in the checkout), or npm rebuild better-sqlite3`,
  );
}
