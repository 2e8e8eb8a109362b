import type * as vscode from 'vscode';
import { z } from 'zod';
import type { TestStatus } from '../../core/frameworks/framework.ts';
import type { FixReviewInput } from '../ports.ts';
import { hasKeptReviews, KEPT_REVIEWS } from './has-kept-reviews.ts';
import { type Decision, openUnits, type Review, unitsOf } from './model.ts';
import { viewFile } from './view.ts';

/** Longer patches are not kept: the state of a workspace is read as a whole when its window opens. */
const MOST_CHARACTERS = 500_000;

const STATUSES = [
  ...(['passed', 'failed', 'error', 'listed'] as const),
  ...(['skipped', 'todo', 'xfailed', 'xpassed'] as const),
] as const satisfies readonly TestStatus[];

const placeSchema = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int().exactOptional(),
  function: z.string().exactOptional(),
});

const testSchema = z.object({
  id: z.string(),
  file: z.string(),
  line: z.int().exactOptional(),
  before: z.object({
    status: z.enum(STATUSES),
    failure: z
      .object({
        message: z.string(),
        expected: z.string().exactOptional(),
        actual: z.string().exactOptional(),
        place: placeSchema.exactOptional(),
        ownFrame: placeSchema.exactOptional(),
        details: z.string(),
      })
      .exactOptional(),
  }),
  after: z.enum(['passed', 'failed']),
  reason: z.string().exactOptional(),
});

const fileSchema = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted']),
  binary: z.boolean(),
  steersTests: z.boolean(),
  runsLater: z.boolean(),
});

const inputSchema = z.object({
  id: z.string(),
  outcome: z.enum(['solved', 'solved_with_test_changes']),
  patch: z.string(),
  files: z.array(fileSchema),
  summary: z.string(),
  tests: z.array(testSchema),
  stillPassing: z.int(),
  flags: z.array(
    z.object({
      rule: z.string(),
      file: z.string(),
      line: z.int().exactOptional(),
      explanation: z.string(),
    }),
  ),
  attempts: z.array(
    z.object({
      attemptId: z.string(),
      targets: z.array(z.string()),
      trajectoryPath: z.string(),
    }),
  ),
  policy: z.string(),
});

/** As this version or an older one wrote it. */
const keptSchema = z.array(
  z.object({
    folder: z.string(),
    decisions: z.array(z.array(z.enum(['open', 'accepted', 'discarded']))),
    input: inputSchema,
  }),
);

export interface KeptReview {
  readonly input: FixReviewInput;
  /** Of each file, in the order of the patch, the decisions about its changes. */
  readonly decisions: readonly (readonly Decision[])[];
}

/**
 * Keeps the reviews in which something is open for the next window. Asked at every change of a file, so
 * it writes only when a review or a decision is another one.
 */
export function createKeeper(
  memento: vscode.Memento,
): (reviews: readonly Review[]) => Promise<void> {
  let last: string | undefined;
  return async (reviews) => {
    const kept = reviews
      .filter((review) => openUnits(unitsOf(review)).length > 0)
      .filter(({ input }) => input.patch.length <= MOST_CHARACTERS)
      .map(({ input: { folder, ...input }, files }) => ({
        folder: folder.uri.toString(),
        decisions: files.map(({ units }) => units.map(({ decision }) => decision)),
        input,
      }));
    const now = JSON.stringify(kept.map(({ input, decisions }) => [input.id, decisions]));
    if (now === last || (kept.length === 0 && !hasKeptReviews(memento))) return;
    last = now;
    await memento.update(KEPT_REVIEWS, kept.length === 0 ? undefined : kept);
  };
}

/** Newest first, as they were. Those of a folder that is not open any more are left out. */
export function keptReviews(
  memento: vscode.Memento,
  folders: readonly vscode.WorkspaceFolder[],
): readonly KeptReview[] {
  const read = keptSchema.safeParse(memento.get(KEPT_REVIEWS));
  if (!read.success) return [];
  return read.data.flatMap(({ input, decisions, folder: wanted }) => {
    const folder = folders.find(({ uri }) => uri.toString() === wanted);
    if (!folder) return [];
    return [{ input: { ...input, folder }, decisions }];
  });
}

/**
 * Gives the changes of a review the decisions that were kept, where it still has the same changes. What
 * stands in the files already counts as accepted: a window that is closed right after a decision
 * does not always keep it.
 */
export function decideAgain(review: Review, { decisions }: KeptReview): void {
  const same =
    review.files.length === decisions.length &&
    review.files.every(({ units }, at) => units.length === decisions[at]?.length);
  for (const [at, file] of review.files.entries()) {
    for (const unit of file.units) {
      const kept = same ? decisions[at]?.[unit.index] : undefined;
      const present = file.view.conflicts.get(unit) === 'present';
      unit.decision = kept === 'discarded' ? kept : present ? 'accepted' : (kept ?? 'open');
    }
    file.view = viewFile(file, file.view.now);
  }
}
