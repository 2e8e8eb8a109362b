import { z } from 'zod';
import {
  type Announcement,
  announcementSchema,
} from '../../../src/core/protocol/server-messages.ts';
import type { Db } from './database.ts';

/** Announcements and series: both only grow, and are read from a cursor. */

export interface SeriesPoint {
  readonly cursor: number;
  readonly at: string;
  readonly value: number;
}

export interface News {
  announce(kind: Announcement['kind'], text: string): Announcement;
  /** After `cursor`, oldest first. */
  announcements(cursor: number, limit: number): readonly Announcement[];
  newest(): number;
  addPoints(values: Readonly<Record<string, number>>): void;
  points(name: string, cursor: number, limit: number): readonly SeriesPoint[];
}

/** Of each series; at four a minute some two months. */
const KEPT_POINTS = 400_000;

const pointSchema = z.object({ cursor: z.number(), at: z.string(), value: z.number() });

export function createNews(db: Db): News {
  const announce = db.prepare(
    'INSERT INTO announcements (at, kind, text) VALUES (?, ?, ?) RETURNING *',
  );
  const after = db.prepare('SELECT * FROM announcements WHERE cursor > ? ORDER BY cursor LIMIT ?');
  const newest = db.prepare('SELECT coalesce(max(cursor), 0) AS cursor FROM announcements');
  const insert = db.prepare('INSERT INTO series (name, at, value) VALUES (?, ?, ?)');
  const thin = db.prepare(
    'DELETE FROM series WHERE name = ? AND cursor <= (SELECT cursor FROM series WHERE name = ? ORDER BY cursor DESC LIMIT 1 OFFSET ?)',
  );
  const points = db.prepare(
    'SELECT cursor, at, value FROM series WHERE name = ? AND cursor > ? ORDER BY cursor LIMIT ?',
  );
  const addPoints = db.transaction((values: Readonly<Record<string, number>>) => {
    const at = new Date().toISOString();
    for (const [name, value] of Object.entries(values)) {
      const { lastInsertRowid } = insert.run(name, at, value);
      if (Number(lastInsertRowid) % 1_000 === 0) thin.run(name, name, KEPT_POINTS);
    }
  });
  return {
    announce: (kind, text) =>
      announcementSchema.parse(announce.get(new Date().toISOString(), kind, text)),
    announcements: (cursor, limit) => z.array(announcementSchema).parse(after.all(cursor, limit)),
    newest: () => z.object({ cursor: z.number() }).parse(newest.get()).cursor,
    addPoints: (values) => addPoints.immediate(values),
    points: (name, cursor, limit) => z.array(pointSchema).parse(points.all(name, cursor, limit)),
  };
}
