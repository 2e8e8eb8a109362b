import { chmodSync } from 'node:fs';
import { openSqlite } from './sqlite.ts';

export interface InstanceLock {
  release(): void;
}

/**
 * One server per data folder. The lock is one of the operating system on a file of its own: it ends with
 * the process, however that ends, and no number of a process can be mistaken for another.
 *
 * @returns undefined where another process has it
 */
export function takeLock(file: string): InstanceLock | undefined {
  const db = openSqlite(file, { timeout: 0 });
  try {
    chmodSync(file, 0o600);
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
  return { release: () => db.close() };
}
