import type { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { readTar, type TarEntry } from '../../snapshot/tar.ts';
import { SandboxFailure } from '../sandbox.ts';

/**
 * Sends a folder of this machine to a folder of a container: modes, links, hard links and names of
 * any bytes as they are, owned by `id`. The host's `tar` writes the stream, because names are bytes
 * and the libraries make text of them; nothing is kept in memory.
 *
 * @param to absolute path in the container, which exists there
 */
export async function sendFolder(
  container: Docker.Container,
  from: string,
  to: string,
  id: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const owner =
    process.platform === 'darwin'
      ? ['--uid', String(id), '--gid', String(id), '--format', 'gnutar']
      : [`--owner=${id}`, `--group=${id}`, '--numeric-owner', '--format=gnu'];
  const child = spawn('tar', [...owner, '-C', from, '-cf', '-', '.'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // macOS would add a file for the attributes of each.
    env: { PATH: process.env.PATH, LC_ALL: 'C', COPYFILE_DISABLE: '1' },
  });
  const packed = new Promise<string | undefined>((resolve) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(0, 4096);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? undefined : said.trim() || `code ${code}`));
  });
  try {
    await container.putArchive(child.stdout, { path: to, ...(signal && { abortSignal: signal }) });
  } catch (error) {
    child.kill('SIGKILL');
    signal?.throwIfAborted();
    throw error;
  }
  const problem = await packed;
  if (problem !== undefined) {
    throw new SandboxFailure(
      `The files of ${from} could not be packed for the container: ${problem}`,
      'See that `tar` is installed and that you can read these files.',
    );
  }
}

const MAX_LINKS = 10;

/**
 * A file of a container, with links followed. undefined: there is none, or it is a folder.
 *
 * @returns where it is really, and its bytes
 */
export async function readContainerFile(
  container: Docker.Container,
  path: string,
  isMissing: (error: unknown) => boolean,
): Promise<{ readonly path: string; readonly content: Buffer } | undefined> {
  let at = path;
  for (let count = 0; count < MAX_LINKS; count++) {
    let entry: TarEntry | undefined;
    try {
      const stream = await container.getArchive({ path: at });
      [entry] = readTar(await buffer(stream));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    if (entry?.kind === 'file') return { path: at, content: entry.content };
    if (entry?.kind !== 'link') return undefined;
    at = new URL(entry.content.toString('latin1'), `file://${at}`).pathname;
  }
  return undefined;
}
