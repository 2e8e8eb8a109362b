import type * as vscode from 'vscode';
import type { PatchPart } from '../../core/snapshot/patch-format.ts';
import type { FixReviewInput, ReviewFile } from '../ports.ts';
import type { Change, FileContent } from './patch/changes.ts';
import type { Place } from './patch/place.ts';

export type Decision = 'open' | 'accepted' | 'discarded';

/** The smallest thing that can be taken: a change of a text, or a file that goes as a whole. */
export interface Unit {
  readonly file: ReviewedFile;
  /** Its position among the units of its file. */
  readonly index: number;
  /** undefined: the whole file. */
  readonly change: Change | undefined;
  decision: Decision;
  /** The user has changed what was taken, and that is recorded. */
  edited: boolean;
}

export interface ReviewedFile {
  readonly review: Review;
  readonly file: ReviewFile;
  readonly part: PatchPart;
  readonly content: FileContent;
  /** Where the change goes. */
  readonly uri: vscode.Uri;
  readonly units: readonly Unit[];
  /** Lines of the file that the patch was made from; undefined where that is not at hand. */
  readonly base: readonly string[] | undefined;
  /** What a whole file becomes, for people. */
  readonly preview: Preview | undefined;
  /** Newest last: what was taken, so that undo and redo are noticed. */
  readonly taken: Taken[];
  readonly undone: Taken[];
  view: FileView;
}

export interface Preview {
  readonly before: string;
  readonly after: string;
}

export interface Taken {
  readonly units: readonly Unit[];
  /** State of the file (see `stateOf`). */
  readonly before: string;
  readonly after: string;
}

export interface Review {
  readonly id: string;
  readonly input: FixReviewInput;
  readonly title: string;
  readonly files: readonly ReviewedFile[];
  /** The user was asked about changes to tests, and takes them. */
  confirmed: boolean;
  /** Of the chosen tests in the workspace, after something was taken. */
  rerun: 'running' | { readonly passed: number; readonly failed: readonly string[] } | undefined;
}

/** A file as it is now: on disk, or in the editor where it is open. */
export type Now =
  | {
      readonly kind: 'file';
      /** Of the bytes on disk, as git has it. */
      readonly hash: string;
      readonly mode: '100644' | '100755';
      /** As the editor has it, changes that are not saved included; undefined: not text. */
      readonly text: string | undefined;
      readonly unsaved: boolean;
      readonly writable: boolean;
    }
  | { readonly kind: 'missing'; readonly writable: boolean }
  /** A folder, a link, or something that cannot be read. */
  | { readonly kind: 'other' };

export type ConflictKind =
  | 'changed'
  | 'file-changed'
  | 'unsaved'
  | 'ambiguous'
  | 'present'
  | 'gone'
  | 'exists'
  | 'other'
  | 'not-text'
  | 'link'
  | 'read-only'
  | 'stale'
  | 'unreadable';

/** What can be said of a file and its open units, as things are now. */
export interface FileView {
  readonly now: Now;
  /** Of open and of discarded units. */
  readonly places: ReadonlyMap<Unit, Place>;
  readonly conflicts: ReadonlyMap<Unit, ConflictKind>;
  /** The file with all open units that fit; undefined: there is no such text. */
  readonly proposed: string | undefined;
}

export function unitsOf(review: Review): readonly Unit[] {
  return review.files.flatMap(({ units }) => units);
}

export function openUnits(units: readonly Unit[]): readonly Unit[] {
  return units.filter(({ decision }) => decision === 'open');
}
