import { createHash } from 'node:crypto';
import { join } from 'node:path';
import envPaths from 'env-paths';

/**
 * Where all records are: `$PRIME_AGENT_HOME/trajectories`, else in the user's data folder.
 *
 * @param environment the host's, for example `process.env`.
 */
export function trajectoriesRoot(
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const home = environment.PRIME_AGENT_HOME;
  return join(home || envPaths('prime-agent', { suffix: '' }).data, 'trajectories');
}

/** The folder of one workspace, relative to the root. A hash: the path itself may name the user. */
export function workspaceFolder(workspacePath: string): string {
  return createHash('sha256').update(workspacePath).digest('hex').slice(0, 16);
}
