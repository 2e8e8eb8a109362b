import type { Learnt } from './learnt.ts';
import type { Candidate } from './rank.ts';
import { type Replacement, toReplacement } from './replacement.ts';
import type { OfferedEdit } from './steps.ts';

/** An edit as it is made. */
export interface Try extends Replacement {
  readonly candidate: Candidate;
}

/** As it is offered to whoever chooses. */
export function offeredEdit({ candidate, oldText, newText }: Try, learnt: Learnt): OfferedEdit {
  const { path, edit } = candidate;
  return { path, oldText, newText, operator: edit.operator, score: learnt.weigh(candidate) };
}

/** Edits that were not tried yet. */
export interface OpenTries {
  /** At most so many, the most promising first; no two of them are the same replacement. */
  best(count: number): readonly Try[];
  remove(candidates: ReadonlySet<Candidate>): void;
  /** All edits of a file. */
  removeFile(path: string): void;
}

export function openTries(
  ranked: readonly Candidate[],
  texts: ReadonlyMap<string, string>,
  learnt: Learnt,
): OpenTries {
  let open = [...ranked];
  // Writing an edit down costs a search for its text, so it is done for those that come up.
  const written = new Map<Candidate, Try | undefined>();
  const writtenDown = (candidate: Candidate): Try | undefined => {
    if (!written.has(candidate)) {
      const change = toReplacement(texts.get(candidate.path) ?? '', candidate.edit);
      written.set(candidate, change && { candidate, ...change });
    }
    return written.get(candidate);
  };
  return {
    best(count) {
      open.sort((a, b) => learnt.weigh(b) - learnt.weigh(a));
      const found: Try[] = [];
      const left = new Set<Candidate>();
      const calls = new Set<string>();
      for (const candidate of open) {
        if (found.length >= count) break;
        const made = writtenDown(candidate);
        const call = made && `${candidate.path}\0${made.oldText}\0${made.newText}`;
        if (made === undefined || call === undefined || calls.has(call)) left.add(candidate);
        else {
          calls.add(call);
          found.push(made);
        }
      }
      if (left.size > 0) open = open.filter((candidate) => !left.has(candidate));
      return found;
    },
    remove(candidates) {
      open = open.filter((candidate) => !candidates.has(candidate));
    },
    removeFile(path) {
      open = open.filter((candidate) => candidate.path !== path);
    },
  };
}
