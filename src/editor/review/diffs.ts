import type * as vscode from 'vscode';
import type { ReviewDocuments } from './documents.ts';
import { proposedLine } from './lenses.ts';
import type { Review, ReviewedFile, Unit } from './model.ts';

/** The editor's diffs of reviews. */
export interface ReviewDiffs {
  /** Every file of a review in one diff. */
  showAll(review: Review): Promise<void>;
  /** One file, at one of its changes; the focus stays where it is. */
  showFile(file: ReviewedFile, unit?: Unit): Promise<void>;
  /** What is decided shows nothing any more. */
  close(review: Review): void;
  /** Is the tab in front a review's? */
  isActive(reviews: readonly Review[]): boolean;
}

export function createReviewDiffs(
  vs: typeof vscode,
  documents: Pick<ReviewDocuments, 'sides' | 'fileOf'>,
): ReviewDiffs {
  return {
    async showAll(review) {
      const resources = review.files.map((file) => {
        const { before, after } = documents.sides(file);
        const { status } = file.part;
        return [
          file.uri,
          status === 'added' ? undefined : before,
          status === 'deleted' ? undefined : after,
        ];
      });
      await vs.commands.executeCommand('vscode.changes', review.title, resources);
    },
    async showFile(file, unit) {
      const { before, after } = documents.sides(file);
      const line = unit ? proposedLine(unit) : 0;
      const name = file.file.path.slice(file.file.path.lastIndexOf('/') + 1);
      const title = vs.l10n.t('{0} (review)', name);
      await vs.commands.executeCommand('vscode.diff', before, after, title, {
        preserveFocus: true,
        preview: true,
        ...(unit ? { selection: new vs.Range(line, 0, line, 0) } : {}),
      });
    },
    close(review) {
      const tabs = vs.window.tabGroups.all.flatMap((group) => group.tabs);
      const own = tabs.filter(({ label, input }) => {
        if (isTabOf(review, label)) return true;
        if (!(input instanceof vs.TabInputTextDiff)) return false;
        return documents.fileOf(input.modified)?.review === review;
      });
      if (own.length === 0) return;
      // One that is gone already is no error.
      vs.window.tabGroups.close(own, true).then(undefined, () => undefined);
    },
    isActive(reviews) {
      const label = vs.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
      return reviews.some((review) => isTabOf(review, label));
    },
  };
}

/** Tabs of several files say no more than their label, to which the editor adds a count. */
function isTabOf({ title }: Review, label: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}
