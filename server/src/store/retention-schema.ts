/** The schema that retention, task archives and policy versions need (a step of `MIGRATIONS`). */
export const RETENTION_SCHEMA = `
  -- When the content went. The row stays: ids, parents, rewards and hashes are the lineage.
  ALTER TABLE trajectories ADD COLUMN removed_at TEXT;
  DROP INDEX trajectories_blob;
  CREATE INDEX trajectories_blob ON trajectories (blob) WHERE removed_at IS NULL;
  -- In the order in which contents go: judged ones first, then those that still wait for it.
  CREATE INDEX trajectories_kept ON trajectories ((claim = 'waiting'), seq) WHERE removed_at IS NULL;

  -- Files that an entry needed and may go now. Only the server removes them: it knows its uploads.
  CREATE TABLE doomed (
    kind TEXT NOT NULL CHECK (kind IN ('blobs', 'trees')),
    sha256 TEXT NOT NULL,
    PRIMARY KEY (kind, sha256)
  ) STRICT, WITHOUT ROWID;

  -- trajectories counts all, kept those whose content is there; bytes are of those.
  ALTER TABLE totals ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
  UPDATE totals SET kept = trajectories;
  DROP TRIGGER trajectories_added;
  DROP TRIGGER trajectories_removed;
  DROP TRIGGER trajectories_judged;
  CREATE TRIGGER trajectories_added AFTER INSERT ON trajectories BEGIN
    INSERT INTO totals VALUES (new.contributor, new.claim, 1, new.blob_bytes, 1)
    ON CONFLICT DO UPDATE SET
      trajectories = trajectories + 1, bytes = bytes + new.blob_bytes, kept = kept + 1;
  END;
  CREATE TRIGGER trajectories_removed AFTER DELETE ON trajectories BEGIN
    UPDATE totals SET trajectories = trajectories - 1,
      bytes = bytes - iif(old.removed_at IS NULL, old.blob_bytes, 0),
      kept = kept - (old.removed_at IS NULL)
    WHERE contributor = old.contributor AND claim = old.claim;
    INSERT OR IGNORE INTO doomed SELECT 'blobs', old.blob WHERE old.removed_at IS NULL;
  END;
  CREATE TRIGGER trajectories_judged AFTER UPDATE OF claim ON trajectories BEGIN
    UPDATE totals SET trajectories = trajectories - 1,
      bytes = bytes - iif(old.removed_at IS NULL, old.blob_bytes, 0),
      kept = kept - (old.removed_at IS NULL)
    WHERE contributor = old.contributor AND claim = old.claim;
    INSERT INTO totals VALUES (new.contributor, new.claim, 1,
      iif(new.removed_at IS NULL, new.blob_bytes, 0), (new.removed_at IS NULL))
    ON CONFLICT DO UPDATE SET trajectories = trajectories + 1,
      bytes = bytes + excluded.bytes, kept = kept + excluded.kept;
  END;
  CREATE TRIGGER trajectories_emptied AFTER UPDATE OF removed_at ON trajectories
  WHEN old.removed_at IS NULL AND new.removed_at IS NOT NULL BEGIN
    UPDATE totals SET bytes = bytes - old.blob_bytes, kept = kept - 1
    WHERE contributor = old.contributor AND claim = old.claim;
    INSERT OR IGNORE INTO doomed VALUES ('blobs', old.blob);
  END;

  CREATE TABLE archives (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    contributor TEXT NOT NULL,
    added_at TEXT NOT NULL,
    removed_at TEXT,
    UNIQUE (sha256, contributor)
  ) STRICT;
  CREATE INDEX archives_kept ON archives (seq) WHERE removed_at IS NULL;
  CREATE TRIGGER archives_emptied AFTER UPDATE OF removed_at ON archives
  WHEN old.removed_at IS NULL AND new.removed_at IS NOT NULL BEGIN
    INSERT OR IGNORE INTO doomed VALUES ('trees', old.sha256);
  END;

  CREATE TABLE policy_versions (
    version INTEGER PRIMARY KEY,
    parent INTEGER,
    created_at TEXT NOT NULL,
    scaffold_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    manifest_sha256 TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    removed_at TEXT
  ) STRICT;
`;
