import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { z } from 'zod';
import { syncFolder } from '../platform/sync-folder.ts';
import { ARCHIVES_PATH, POLICIES_PATH } from '../protocol/paths.ts';
import { type PolicyManifest, policyManifestSchema } from '../protocol/policy-manifest.ts';
import type { ServerAddress } from '../protocol/server-address.ts';
import { sha256Schema } from '../protocol/values.ts';
import { createAgent } from './agent.ts';
import { download } from './download.ts';
import { refusalOf } from './refusal.ts';

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
/** Of one file of a policy. */
const MAX_FILE_BYTES = 64 * 1024 ** 3;
/** Of a task archive. */
const MAX_ARCHIVE_BYTES = 4 * 1024 ** 3;

const listSchema = z.object({
  versions: z.array(
    z.object({
      version: z.int().positive(),
      parent: z.int().positive().nullable(),
      createdAt: z.iso.datetime(),
      manifestSha256: sha256Schema,
      removedAt: z.iso.datetime().nullable(),
    }),
  ),
});
export type PolicyVersion = z.infer<typeof listSchema>['versions'][number];

/** Versions that the server knows, newest first. Rejects with `ProtocolError`, or an error of the network. */
export async function listPolicyVersions(server: ServerAddress): Promise<readonly PolicyVersion[]> {
  const agent = createAgent(server);
  try {
    const { statusCode, body } = await request(new URL(POLICIES_PATH, server.url), {
      dispatcher: agent,
      headers: { authorization: `Bearer ${server.token}` },
    });
    if (statusCode !== 200) throw await refusalOf(statusCode, body, POLICIES_PATH);
    return listSchema.parse(await body.json()).versions;
  } finally {
    await agent.destroy();
  }
}

/**
 * Fetches a version with all its files, each compared with its hash, into `folder`: that is there whole or not at all.
 * What a cut download left waits in a folder beside it.
 *
 * @param folder absolute path of what must not be there yet
 */
export async function downloadPolicy(
  server: ServerAddress,
  { version, manifestSha256 }: Pick<PolicyVersion, 'version' | 'manifestSha256'>,
  folder: string,
  signal?: AbortSignal,
): Promise<PolicyManifest> {
  const agent = createAgent(server);
  const fresh = join(dirname(folder), `.policy-v${version}-${manifestSha256.slice(0, 16)}`);
  const base = `${POLICIES_PATH}/${version}`;
  const common = { server, agent, ...(signal ? { signal } : {}) };
  try {
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    const manifestFile = join(fresh, 'manifest.json');
    await download({
      ...common,
      path: base,
      sha256: manifestSha256,
      maxBytes: MAX_MANIFEST_BYTES,
      to: manifestFile,
    });
    const manifest = policyManifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
    for (const { name, bytes, sha256 } of manifest.files) {
      await download({
        ...common,
        path: `${base}/files/${name}`,
        sha256,
        maxBytes: Math.min(bytes, MAX_FILE_BYTES),
        to: join(fresh, 'files', name),
      });
    }
    await rename(fresh, folder);
    await syncFolder(dirname(folder));
    return manifest;
  } finally {
    await agent.destroy();
  }
}

/** Fetches a task archive. */
export async function downloadArchive(
  server: ServerAddress,
  sha256: string,
  to: string,
  signal?: AbortSignal,
): Promise<void> {
  const agent = createAgent(server);
  try {
    const path = `${ARCHIVES_PATH}/${sha256}`;
    const more = signal ? { signal } : {};
    await download({ server, agent, path, sha256, maxBytes: MAX_ARCHIVE_BYTES, to, ...more });
  } finally {
    await agent.destroy();
  }
}
