import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  lineEnd,
  lineStart,
  toReplacement,
} from '../../src/core/policies/edit-search/replacement.ts';
import type {
  Conversation,
  ConversationMessage,
} from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { MOST_LINES } from '../../src/core/tasks/demonstrations/plan.ts';
import { noiseEdits } from '../../src/core/tasks/generate/token-noise.ts';
import { applyEdit, type Edit } from '../../src/core/tasks/operators/edit.ts';
import { listEdits } from '../../src/core/tasks/operators/list-edits.ts';
import { type Chance, createChance } from '../../src/core/tasks/random.ts';
import { operatorKind } from '../../src/core/tasks/split.ts';
import { renderEdited } from '../../src/core/tools/editor/render.ts';
import type { NanoSettings } from './settings.ts';

/**
 * Pieces of real code with several bugs, and the edits that put them right, from top to bottom, behind
 * the openings of demonstrations. They teach to see what is odd in code that no template of ours has
 * written, several times for one listing.
 *
 * They are no attempts (nothing is tested), but calls and observations are written as in one.
 *
 * @param heldOut kinds of operators (`operatorKind`) that may not be seen, not even as odd tokens
 */
export async function makeRepairs(
  shards: readonly string[],
  chunks: readonly string[],
  file: string,
  { variants, edits }: NanoSettings['repairs'],
  heldOut: ReadonlySet<string>,
): Promise<number> {
  const partial = `${file}.partial`;
  const out = createWriteStream(partial);
  const openings = conversationsOf(shards);
  let written = 0;
  for (let variant = 0; variant < variants; variant += 1) {
    for (const [at, chunk] of chunks.entries()) {
      const next = await openings.next();
      if (next.done) break;
      const repair = repairOf(`repair-${variant}-${at}`, next.value, chunk, edits, heldOut);
      if (repair === undefined) continue;
      written += 1;
      if (!out.write(`${JSON.stringify(repair)}\n`)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'close');
  await rename(partial, file);
  return written;
}

/** Again from the first one behind the last; no end unless there are none. */
async function* conversationsOf(shards: readonly string[]): AsyncGenerator<Conversation, void> {
  for (let some = true; some; ) {
    some = false;
    for (const shard of shards) {
      for await (const line of createInterface({ input: createReadStream(shard) })) {
        some = true;
        yield JSON.parse(line) as Conversation;
      }
    }
  }
}

type Bug = Pick<Edit, 'from' | 'to' | 'oldText' | 'newText' | 'line'>;

/** Undefined: there are not so many lines in which a bug can be made, or the conversation lists no module. */
export function repairOf(
  id: string,
  conversation: Conversation,
  source: string,
  edits: number,
  heldOut: ReadonlySet<string>,
): Conversation | undefined {
  const opening = openingOf(conversation);
  if (opening === undefined) return;
  const bugs = bugsOf(source, createChance('repair', id), edits, heldOut);
  if (bugs.length < edits) return;
  return played(
    id,
    opening,
    source,
    bugs.sort((a, b) => a.from - b.from),
  );
}

/** At most so many bugs, each in a line of its own: half by an operator, half one odd token. */
function bugsOf(
  source: string,
  chance: Chance,
  count: number,
  heldOut: ReadonlySet<string>,
): Bug[] {
  const all = listEdits(source, 'javascript');
  const isHeldOut = (edit: Edit): boolean => heldOut.has(operatorKind(edit.operator));
  const forbidden = new Set(all.filter(isHeldOut).map((edit) => applyEdit(source, edit)));
  const byOperator = all
    .filter((edit) => !isHeldOut(edit))
    .map((edit) => ({ edit, key: Math.log(1 - chance.next()) / (edit.prior + 0.01) }))
    .sort((a, b) => b.key - a.key)
    .map(({ edit }) => edit);
  const odd = noiseEdits(source, chance, 3 * count).filter((bug) => {
    const broken = applyEdit(source, bug);
    if (forbidden.has(broken)) return false;
    // Putting it right must be no edit of such an operator either.
    const line = { from: lineStart(broken, bug.from), to: lineEnd(broken, bug.from) };
    const back = listEdits(broken, 'javascript', { ranges: [line] });
    return !back.some((edit) => isHeldOut(edit) && applyEdit(broken, edit) === source);
  });
  const lists: readonly (readonly Bug[])[] = [byOperator, odd];
  const next = [0, 0];
  const bugs = new Map<number, Bug>();
  while (bugs.size < count && lists.some((list, at) => (next[at] ?? 0) < list.length)) {
    const at = chance.int(0, 1);
    const bug = lists[at]?.[next[at] ?? 0];
    next[at] = (next[at] ?? 0) + 1;
    if (bug && !bugs.has(bug.line) && isInOneLine(bug)) bugs.set(bug.line, bug);
  }
  return [...bugs.values()];
}

function isInOneLine({ oldText, newText }: Bug): boolean {
  return !`${oldText}${newText}`.includes('\n');
}

interface Opening {
  readonly messages: readonly [ConversationMessage, ConversationMessage];
  readonly path: string;
}

/** The first message and the listing of the module; undefined where a demonstration begins otherwise. */
function openingOf({ messages }: Conversation): Opening | undefined {
  const [user, view] = messages;
  if (user?.role !== 'user' || view?.role !== 'assistant') return;
  const command = view.calls[0]?.arguments.command;
  if (typeof command !== 'string' || !command.startsWith('cat ') || !view.train) return;
  return { messages: [user, view], path: `/workspace/${command.slice('cat '.length)}` };
}

/** The listing with all bugs behind the opening, and for each the edit that takes it back. */
function played(
  id: string,
  { messages, path }: Opening,
  source: string,
  bugs: readonly Bug[],
): Conversation | undefined {
  let text = [...bugs].reverse().reduce((broken, bug) => applyEdit(broken, bug), source);
  const kept: ConversationMessage[] = [...messages, { role: 'tool', content: text }];
  // Those above are right again when one comes to it, so its place is that of the source.
  for (const { from, oldText, newText, line } of bugs) {
    const back = { from, to: from + newText.length, newText: oldText };
    const fragment = toReplacement(text, back, MOST_LINES);
    if (fragment === undefined) return;
    text = applyEdit(text, back);
    const args = {
      command: 'str_replace',
      path,
      old_str: fragment.oldText,
      new_str: fragment.newText,
    };
    kept.push(
      {
        role: 'assistant',
        content: '',
        calls: [{ name: 'str_replace_editor', arguments: args }],
        train: true,
      },
      {
        role: 'tool',
        content: renderEdited(path, text, { firstLine: line, lastLine: line }).text,
      },
    );
  }
  return { id, messages: kept };
}
