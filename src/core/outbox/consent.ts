import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { syncFolder } from '../platform/sync-folder.ts';
import { attemptIdSchema } from '../protocol/values.ts';
import { isErrno } from '../snapshot/errors.ts';
import { workspaceFolder } from '../trajectories/folder.ts';
import { writeDurably } from './durable.ts';
import type { Preview } from './preview.ts';

const shown = {
  /** Absolute path; it is sent nowhere. */
  workspacePath: z.string(),
  allowedAt: z.iso.datetime(),
  /** The attempt whose contents were shown before. */
  previewed: attemptIdSchema,
};

/** Consent covers what was shown: of version 1, given before there were archives, the records alone. */
const consentSchema = z.discriminatedUnion('version', [
  z.strictObject({ version: z.literal(1), ...shown }),
  z.strictObject({
    version: z.literal(2),
    ...shown,
    /** The files that attempts had before them, as they were listed; null: they stay. */
    files: z.strictObject({ count: z.int().positive(), bytes: z.int().nonnegative() }).nullable(),
  }),
]);
export type Consent = z.infer<typeof consentSchema>;

declare const given: unique symbol;

/** Somebody allowed that attempts at a workspace leave this machine. Only a `ConsentStore` makes one. */
export interface Permit {
  readonly [given]: true;
  /** Hash of the workspace's path. */
  readonly workspace: string;
  /** Asked again at the moment that counts. */
  stillGiven(): Promise<boolean>;
  /** Of the same moment: may the files that attempts had before them go, too? */
  coversFiles(): Promise<boolean>;
}

export function coversFiles(consent: Consent): boolean {
  return consent.version === 2 && consent.files !== null;
}

/** Who allowed what: a file per workspace, so that no workspace speaks for another. */
export interface ConsentStore {
  /**
   * After somebody saw the preview of an attempt at this workspace; covers the files of attempts only if it listed
   * some. On the disk when it resolves.
   */
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
    const now = (): Promise<Consent | undefined> => read(workspace).catch(() => undefined);
    const permit: Omit<Permit, typeof given> = {
      workspace,
      stillGiven: async () => (await now()) !== undefined,
      async coversFiles() {
        const consent = await now();
        return consent !== undefined && coversFiles(consent);
      },
    };
    return permit as Permit;
  };
  return {
    async allow(workspacePath, seen) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const consent: Consent = {
        version: 2,
        workspacePath,
        allowedAt: new Date().toISOString(),
        previewed: seen.attemptId,
        files: filesOf(seen),
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

function filesOf({ files }: Preview): Extract<Consent, { readonly version: 2 }>['files'] {
  if (files?.kind !== 'archive') return null;
  return {
    count: files.files.length,
    bytes: files.files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
