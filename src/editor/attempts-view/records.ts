import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { trajectoriesRoot, workspaceFolder } from '../../core/trajectories/folder.ts';
import { createTrajectoryStore } from '../../core/trajectories/store.ts';
import type { Trajectory } from '../../core/trajectories/trajectory.ts';
import { type ListedAttempt, listedRecord } from './listed.ts';

/** Records of workspace folders; the command line's too. */
export interface Records {
  /** Newest first. */
  list(folders: readonly vscode.WorkspaceFolder[]): Promise<readonly ListedAttempt[]>;
  read(attempt: Pick<ListedAttempt, 'path'>): Promise<Trajectory>;
  remove(attempts: readonly Pick<ListedAttempt, 'path'>[]): Promise<void>;
  /** Where the records of a workspace folder are or will be; absolute. */
  places(folder: vscode.WorkspaceFolder): Promise<readonly string[]>;
}

export function createRecords(environment: Readonly<Record<string, string | undefined>>): Records {
  const root = trajectoriesRoot(environment);
  const store = createTrajectoryStore(root);
  return {
    async list(folders) {
      const found = new Map<string, ListedAttempt>();
      for (const folder of folders) {
        for (const path of await pathsOf(folder)) {
          for (const stored of await store.list(path)) {
            found.set(stored.path, listedRecord(stored, folder));
          }
        }
      }
      return [...found.values()].sort(newestFirst);
    },
    read: (attempt) => store.read(attempt),
    remove: (attempts) => store.remove(attempts),
    places: async (folder) =>
      (await pathsOf(folder)).map((path) => join(root, workspaceFolder(path))),
  };
}

/** A shell is often in the real folder where the editor has a link to it. */
async function pathsOf({ uri }: vscode.WorkspaceFolder): Promise<readonly string[]> {
  if (uri.scheme !== 'file') return [];
  const real = await realpath(uri.fsPath).catch(() => uri.fsPath);
  return [...new Set([uri.fsPath, real])];
}

function newestFirst(a: ListedAttempt, b: ListedAttempt): number {
  const byTime = (b.startedAt?.getTime() ?? 0) - (a.startedAt?.getTime() ?? 0);
  return byTime || (a.id < b.id ? 1 : -1);
}
