import { chmodSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { RETENTION_SCHEMA } from './retention-schema.ts';
import { SNAPSHOT_SCHEMA } from './snapshot-schema.ts';
import { openSqlite } from './sqlite.ts';
import { WORK_SCHEMA } from './work-schema.ts';

export type Db = Database.Database;

/** Each entry brings the schema one version further. Never change one that was released. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('contributor', 'admin')),
    hash BLOB NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT
  ) STRICT;

  CREATE TABLE trajectories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    contributor TEXT NOT NULL,
    attempt_id TEXT NOT NULL,
    series_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    blob TEXT NOT NULL,
    blob_bytes INTEGER NOT NULL,
    content TEXT NOT NULL,
    content_bytes INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    received_at TEXT NOT NULL,
    policy_kind TEXT NOT NULL,
    policy_hash TEXT,
    scaffold_hash TEXT NOT NULL,
    rules TEXT NOT NULL,
    outcome TEXT NOT NULL,
    claimed_reward INTEGER,
    claim TEXT NOT NULL DEFAULT 'waiting',
    claim_reason TEXT,
    turns INTEGER NOT NULL,
    sampled_tokens INTEGER NOT NULL,
    UNIQUE (contributor, attempt_id)
  ) STRICT;
  CREATE INDEX trajectories_claim ON trajectories (claim, seq);
  CREATE INDEX trajectories_task ON trajectories (task_id, seq);
  CREATE INDEX trajectories_blob ON trajectories (blob);

  -- Kept by triggers, so that a status costs the same with a million trajectories as with one.
  CREATE TABLE totals (
    contributor TEXT NOT NULL,
    claim TEXT NOT NULL,
    trajectories INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (contributor, claim)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER trajectories_added AFTER INSERT ON trajectories BEGIN
    INSERT INTO totals VALUES (new.contributor, new.claim, 1, new.blob_bytes)
    ON CONFLICT DO UPDATE SET trajectories = trajectories + 1, bytes = bytes + new.blob_bytes;
  END;
  CREATE TRIGGER trajectories_removed AFTER DELETE ON trajectories BEGIN
    UPDATE totals SET trajectories = trajectories - 1, bytes = bytes - old.blob_bytes
    WHERE contributor = old.contributor AND claim = old.claim;
  END;
  CREATE TRIGGER trajectories_judged AFTER UPDATE OF claim ON trajectories BEGIN
    UPDATE totals SET trajectories = trajectories - 1, bytes = bytes - old.blob_bytes
    WHERE contributor = old.contributor AND claim = old.claim;
    INSERT INTO totals VALUES (new.contributor, new.claim, 1, new.blob_bytes)
    ON CONFLICT DO UPDATE SET trajectories = trajectories + 1, bytes = bytes + new.blob_bytes;
  END;

  CREATE TABLE announcements (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;

  CREATE TABLE series (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    at TEXT NOT NULL,
    value REAL NOT NULL
  ) STRICT;
  CREATE INDEX series_name ON series (name, cursor);
  `,
  RETENTION_SCHEMA,
  WORK_SCHEMA,
  SNAPSHOT_SCHEMA,
];

/**
 * Opens or makes the database: WAL, and a commit has reached the disk when it returns. Several
 * processes may have it open (`token create` beside `serve`).
 */
export function openDatabase(file: string): Db {
  const db = openSqlite(file);
  chmodSync(file, 0o600);
  db.pragma('busy_timeout = 5000');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  migrate(db, file);
  return db;
}

function migrate(db: Db, file: string): void {
  const upgrade = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > MIGRATIONS.length) {
      throw new Error(
        `${file} was written by a newer Prime Agent (schema ${version}; this one knows ${MIGRATIONS.length}). Update Prime Agent.`,
      );
    }
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  });
  upgrade.immediate();
}
