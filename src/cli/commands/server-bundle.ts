import type * as entry from '../../../server/src/entry.ts';
import { stateFolder } from '../../core/platform/state-folder.ts';
import type { CliContext } from '../context.ts';

export interface PlaceOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: number;
}

/**
 * Loads the server, which no other command needs, and makes its database work where npm ran no install scripts.
 * Rejects with a message that says what is missing.
 */
export async function loadServer({ stderr, env, signal }: CliContext): Promise<typeof entry> {
  const server = await load();
  const say = (line: string): boolean => stderr.write(`${line}\n`);
  await server.prepare({ cache: stateFolder(env), say, signal });
  return server;
}

async function load(): Promise<typeof entry> {
  try {
    return await import('../../../server/src/entry.ts');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the training server cannot be loaded: ${why}`);
  }
}
