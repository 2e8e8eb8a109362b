/** Files of attempts that came without some of what was there (a step of `MIGRATIONS`). */
export const SNAPSHOT_SCHEMA = `
  ALTER TABLE snapshots ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
  -- Bytes of a contributor, for the quota.
  CREATE INDEX archives_contributor ON archives (contributor, bytes) WHERE removed_at IS NULL;
`;
