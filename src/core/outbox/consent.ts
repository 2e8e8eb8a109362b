import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { syncFolder } from '../platform/sync-folder.ts';
import { attemptIdSchema } from '../protocol/values.ts';
import { isErrno } from '../snapshot/errors.ts';
import { workspaceFolder } from '../trajectories/folder.ts';
import { writeDurably } from './durable.ts';
import type { Preview } from './preview.ts';

const consentSchema = z.strictObject({
  version: z.literal(1),
  /** Absolute path; it is sent nowhere. */
  workspacePath: z.string(),
  allowedAt: z.iso.datetime(),
  /** The attempt whose contents were shown before. */
  previewed: attemptIdSchema,
});
export type Consent = z.infer<typeof consentSchema>;

declare const given: unique symbol;

/** Somebody allowed that attempts at a workspace leave this machine. Only a `ConsentStore` makes one. */
export interface Permit {
  readonly [given]: true;
  /** Hash of the workspace's path. */
  readonly workspace: string;
  /** Asked again at the moment that counts. */
  stillGiven(): Promise<boolean>;
}

/** Who allowed what: a file per workspace, so that no workspace speaks for another. */
export interface ConsentStore {
  /** After somebody saw the preview of an attempt at this workspace. On the disk when it resolves. */
  allow(workspacePath: string, seen: Preview): Promise<Permit>;
  /** undefined: nobody allowed it. Rejects where a consent cannot be read: that is none. */
  permit(workspacePath: string): Promise<Permit | undefined>;
  /** False where there was none. */
  revoke(workspacePath: string): Promise<boolean>;
  list(): Promise<readonly Consent[]>;
}

/** @param root absolute path, see `outboxRoot`; made when it is first written to. */
export function createConsentStore(root: string): ConsentStore {
  const folder = join(root, 'consent');
  const fileOf = (workspace: string): string => join(folder, `${workspace}.json`);
  const read = async (workspace: string): Promise<Consent | undefined> => {
    let text: string;
    try {
      text = await readFile(fileOf(workspace), 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
    try {
      const consent = consentSchema.parse(JSON.parse(text));
      // A file that was moved or copied says nothing of this workspace.
      return workspaceFolder(consent.workspacePath) === workspace ? consent : undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${fileOf(workspace)} cannot be read (${why}), so nothing of its workspace is sent. Delete it, and allow it again.`,
      );
    }
  };
  const permitOf = (workspace: string): Permit => {
    const permit: Omit<Permit, typeof given> = {
      workspace,
      stillGiven: async () => (await read(workspace).catch(() => undefined)) !== undefined,
    };
    return permit as Permit;
  };
  return {
    async allow(workspacePath, seen) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const consent: Consent = {
        version: 1,
        workspacePath,
        allowedAt: new Date().toISOString(),
        previewed: seen.attemptId,
      };
      const workspace = workspaceFolder(workspacePath);
      await writeDurably(fileOf(workspace), `${JSON.stringify(consent)}\n`);
      return permitOf(workspace);
    },
    async permit(workspacePath) {
      const workspace = workspaceFolder(workspacePath);
      return (await read(workspace)) ? permitOf(workspace) : undefined;
    },
    async revoke(workspacePath) {
      const file = fileOf(workspaceFolder(workspacePath));
      try {
        await rm(file);
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return false;
        throw error;
      }
      // It must not come back after a crash.
      await syncFolder(folder);
      return true;
    },
    async list() {
      const names = await readdir(folder).catch((error: unknown): string[] => {
        if (isErrno(error, 'ENOENT')) return [];
        throw error;
      });
      const known = names.filter((name) => /^[0-9a-f]{16}\.json$/.test(name)).sort();
      const all = await Promise.all(known.map((name) => read(name.slice(0, 16))));
      return all.filter((consent) => consent !== undefined);
    },
  };
}
