import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import envPaths from 'env-paths';

/** What is where in the data folder. Folders are 0700, files 0600. */
export interface DataFolders {
  readonly root: string;
  readonly database: string;
  readonly lock: string;
  /** Contents, named by their sha256. */
  readonly blobs: string;
  /** Uploads that are not complete. */
  readonly incoming: string;
  readonly tls: string;
  /** Archives (files of tasks), named by their sha256. */
  readonly trees: string;
  /** Policy versions, a folder each. */
  readonly policies: string;
  /** What workers need while they work. */
  readonly work: string;
}

export function defaultDataFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.PRIME_AGENT_HOME || envPaths('prime-agent', { suffix: '' }).data, 'server');
}

export function openFolders(root: string): DataFolders {
  const folders = {
    root,
    database: join(root, 'server.sqlite'),
    lock: join(root, 'lock.sqlite'),
    blobs: join(root, 'blobs'),
    incoming: join(root, 'incoming'),
    tls: join(root, 'tls'),
    trees: join(root, 'trees'),
    policies: join(root, 'policies'),
    work: join(root, 'work'),
  };
  const { blobs, incoming, tls, trees, policies, work } = folders;
  for (const folder of [root, blobs, incoming, tls, trees, policies, work]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  return folders;
}
