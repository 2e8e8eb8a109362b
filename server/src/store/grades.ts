import { z } from 'zod';
import type { GradeReport } from '../../../src/core/grading/types.ts';
import { gradeReportSchema } from '../work/messages.ts';
import type { Db } from './database.ts';

/** What grading said of a tree of files, for those who come to the same tree again. */
export interface GradeCache {
  find(key: string): GradeReport | undefined;
  keep(key: string, grade: GradeReport): void;
}

/** The oldest beyond go; each has a few hundred bytes. */
const KEPT = 200_000;

export function createGradeCache(db: Db): GradeCache {
  const select = db.prepare('SELECT report FROM grades WHERE key = ?');
  const insert = db.prepare('INSERT INTO grades VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const thin = db.prepare(
    'DELETE FROM grades WHERE key IN (SELECT key FROM grades ORDER BY at DESC LIMIT -1 OFFSET ?)',
  );
  let kept = 0;
  return {
    find(key) {
      const row = select.get(key);
      if (row === undefined) return undefined;
      const { report } = z.object({ report: z.string() }).parse(row);
      return gradeReportSchema.parse(JSON.parse(report));
    },
    keep(key, grade) {
      insert.run(key, JSON.stringify(grade), new Date().toISOString());
      kept += 1;
      if (kept % 10_000 === 0) thin.run(KEPT);
    },
  };
}
