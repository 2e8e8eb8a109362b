import { runProgram } from '../platform/run-program.ts';
import { SandboxFailure } from './sandbox.ts';

/** Copies the snapshot; a file system with reflinks shares the blocks. */
export async function copyTree(from: string, to: string): Promise<void> {
  const flags = process.platform === 'linux' ? ['-a', '--reflink=auto'] : ['-a'];
  const result = await runProgram('cp', [...flags, '--', `${from}/.`, to]);
  if (result.code !== 0) {
    throw new SandboxFailure(
      `The snapshot could not be copied to ${to}: ${result.stderr.trim()}`,
      'Free disk space, or set PRIME_AGENT_HOME to a folder on another disk.',
    );
  }
}
