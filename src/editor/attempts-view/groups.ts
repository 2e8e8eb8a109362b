import type { ListedAttempt } from './listed.ts';

export type Grouping = 'day' | 'fix';

/** Attempts that are shown together; both groups and their attempts are newest first. */
export interface AttemptGroup {
  /** Stays the same while attempts are added. */
  readonly key: string;
  readonly grouping: Grouping;
  readonly attempts: readonly ListedAttempt[];
}

/** @param attempts newest first */
export function groupAttempts(
  attempts: readonly ListedAttempt[],
  grouping: Grouping,
): readonly AttemptGroup[] {
  const groups = new Map<string, ListedAttempt[]>();
  for (const attempt of attempts) {
    const key = grouping === 'day' ? dayOf(attempt.startedAt) : fixOf(attempt);
    const some = groups.get(key);
    if (some) some.push(attempt);
    else groups.set(key, [attempt]);
  }
  return [...groups].map(([key, some]) => ({ key, grouping, attempts: some }));
}

/** A day in the user's own time zone, `2026-03-09`; empty without a date. */
export function dayOf(time: Date | undefined): string {
  if (time === undefined) return '';
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

function fixOf({ seriesId, id }: ListedAttempt): string {
  return seriesId === '' ? id : seriesId;
}
