import { join } from 'node:path';
import envPaths from 'env-paths';

/**
 * Where what is on its way to a server is: `$PRIME_AGENT_HOME/outbox`, else in the user's data folder.
 *
 * @param environment the host's, for example `process.env`.
 */
export function outboxRoot(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment.PRIME_AGENT_HOME;
  return join(home || envPaths('prime-agent', { suffix: '' }).data, 'outbox');
}
