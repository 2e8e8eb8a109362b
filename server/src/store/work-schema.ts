/** The schema that verified rewards, tasks and rollouts need (a step of `MIGRATIONS`). */
export const WORK_SCHEMA = `
  -- What the server itself found. A learner reads these and never what was claimed.
  ALTER TABLE trajectories ADD COLUMN verified_outcome TEXT;
  ALTER TABLE trajectories ADD COLUMN verified_reward INTEGER;
  -- JSON: why it must not be trained on (flags of grading).
  ALTER TABLE trajectories ADD COLUMN verified_flags TEXT;
  ALTER TABLE trajectories ADD COLUMN verified_at TEXT;
  -- Order in which they were judged.
  ALTER TABLE trajectories ADD COLUMN verified_seq INTEGER;
  CREATE UNIQUE INDEX trajectories_verified ON trajectories (verified_seq)
    WHERE verified_seq IS NOT NULL;

  CREATE INDEX trajectories_waiting ON trajectories (task_id, seq) WHERE claim = 'waiting';

  CREATE TABLE task_trees (
    hash TEXT PRIMARY KEY,
    blob TEXT NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX task_trees_blob ON task_trees (blob);

  CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('file', 'attempt')),
    spec TEXT NOT NULL,
    tree TEXT NOT NULL REFERENCES task_trees (hash),
    split TEXT,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'admitted', 'refused')),
    reason TEXT,
    added_at TEXT NOT NULL,
    judged_at TEXT
  ) STRICT;
  CREATE INDEX tasks_state ON tasks (state, seq);

  -- Files of attempts as they came; the task that each became has a name of the server's own.
  CREATE TABLE snapshots (
    contributor TEXT NOT NULL,
    task_id TEXT NOT NULL,
    blob TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'admitted', 'refused')),
    reason TEXT,
    task TEXT REFERENCES tasks (id),
    added_at TEXT NOT NULL,
    PRIMARY KEY (contributor, task_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX snapshots_blob ON snapshots (blob);
  CREATE INDEX snapshots_state ON snapshots (state, added_at);

  CREATE TABLE grades (
    key TEXT PRIMARY KEY,
    report TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id),
    policy TEXT NOT NULL,
    scaffold_hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    why TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open',
    solved INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    invalid INTEGER NOT NULL DEFAULT 0,
    made_at TEXT NOT NULL,
    ended_at TEXT
  ) STRICT;
  CREATE INDEX groups_state ON groups (policy, state, id);
  CREATE INDEX groups_task ON groups (task, policy, id);

  CREATE TABLE rollouts (
    group_id INTEGER NOT NULL REFERENCES groups (id),
    idx INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'leased', 'done', 'invalid')),
    lease TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    -- seq of its row in trajectories
    trajectory INTEGER UNIQUE,
    reason TEXT,
    PRIMARY KEY (group_id, idx)
  ) STRICT, WITHOUT ROWID;

  -- Kept by triggers, as totals.
  CREATE TABLE work_counts (
    what TEXT NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (what, state)
  ) STRICT, WITHOUT ROWID;
${['tasks', 'snapshots', 'groups', 'rollouts'].map(counted).join('')}`;

function counted(table: string): string {
  const more = (row: string): string => `
    INSERT INTO work_counts VALUES ('${table}', ${row}.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;`;
  const less = `
    UPDATE work_counts SET count = count - 1 WHERE what = '${table}' AND state = old.state;`;
  return `
  CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN${more('new')} END;
  CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} BEGIN${less} END;
  CREATE TRIGGER ${table}_moved AFTER UPDATE OF state ON ${table} BEGIN${less}${more('new')} END;`;
}
