import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type Role, roleSchema } from '../../../src/core/protocol/values.ts';
import type { Db } from './database.ts';

export interface TokenInfo {
  readonly id: string;
  /** Of the contributor; several tokens may have one. */
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

export interface Identity {
  readonly tokenId: string;
  readonly contributor: string;
  readonly role: Role;
}

export interface TokenStore {
  /** `token` is shown once: only its hash is kept. */
  create(name: string, role: Role): TokenInfo & { readonly token: string };
  list(): readonly TokenInfo[];
  /** False where there is no such token, or it is revoked already. */
  revoke(id: string): boolean;
  /** undefined for any token that is not good, without saying why. */
  identify(token: string): Identity | undefined;
}

const TOKEN = /^pa_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;
const CONTRIBUTOR_NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;

export function isContributorName(name: string): boolean {
  return CONTRIBUTOR_NAME.test(name);
}

const rowSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: roleSchema,
  hash: z.instanceof(Buffer),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
});

export function createTokenStore(db: Db): TokenStore {
  const insert = db.prepare(
    'INSERT INTO tokens (id, name, role, hash, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const all = db.prepare('SELECT * FROM tokens ORDER BY created_at, id');
  const byId = db.prepare('SELECT * FROM tokens WHERE id = ? AND revoked_at IS NULL');
  const revoke = db.prepare('UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  return {
    create(name, role) {
      const id = randomBytes(8).toString('hex');
      const token = `pa_${id}_${randomBytes(32).toString('base64url')}`;
      const createdAt = new Date().toISOString();
      insert.run(id, name, role, hashOf(token), createdAt);
      return { id, name, role, createdAt, revokedAt: null, token };
    },
    list: () =>
      z
        .array(rowSchema)
        .parse(all.all())
        .map(({ id, name, role, created_at, revoked_at }) => ({
          id,
          name,
          role,
          createdAt: created_at,
          revokedAt: revoked_at,
        })),
    revoke: (id) => revoke.run(new Date().toISOString(), id).changes === 1,
    identify(token) {
      const [, id] = TOKEN.exec(token) ?? [];
      if (id === undefined) return undefined;
      const found = byId.get(id);
      if (found === undefined) return undefined;
      const row = rowSchema.parse(found);
      // 256 random bits need no slow hash; the comparison gives nothing away by its time.
      if (!timingSafeEqual(hashOf(token), row.hash)) return undefined;
      return { tokenId: row.id, contributor: row.name, role: row.role };
    },
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
