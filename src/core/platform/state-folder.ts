import envPaths from 'env-paths';

/**
 * Where Prime Agent keeps what it can make again (snapshots, layers); `PRIME_AGENT_HOME` moves it.
 * Absolute path; the folder need not exist.
 */
export function stateFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return env.PRIME_AGENT_HOME || envPaths('prime-agent', { suffix: '' }).cache;
}
