import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type {
  Conversation,
  ConversationMessage,
} from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { toFragment } from '../../src/core/tasks/demonstrations/fragment.ts';
import { newName } from '../../src/core/tasks/demonstrations/words.ts';
import { noiseEdits } from '../../src/core/tasks/generate/token-noise.ts';
import type { Edit } from '../../src/core/tasks/operators/edit.ts';
import { type Chance, createChance } from '../../src/core/tasks/random.ts';
import { renderEdited } from '../../src/core/tools/editor/render.ts';
import type { NanoSettings } from './settings.ts';

/**
 * Conversations that only teach to copy: behind the listing of a module come edits of many of its
 * lines, each with one token changed. Whole lines from far back are most of such a text, where in a
 * demonstration they are a tenth; a small model otherwise takes most of its training to learn this.
 *
 * They are no attempts (nothing is tested), but calls and observations are written as in one.
 */
export async function makeExercises(
  shards: readonly string[],
  file: string,
  settings: NanoSettings['exercises'],
): Promise<number> {
  return writeLines(file, async function* () {
    for await (const conversation of conversationsOf(shards)) {
      const exercise = exerciseOf(conversation, settings);
      if (exercise !== undefined) yield exercise;
    }
  });
}

/** Repairs of pieces of real code, behind the openings of demonstrations. */
export async function makeRepairs(
  shards: readonly string[],
  chunks: readonly string[],
  file: string,
  { variants, edits }: NanoSettings['repairs'],
): Promise<number> {
  return writeLines(file, async function* () {
    const openings = conversationsOf(shards);
    for (let variant = 0; variant < variants; variant += 1) {
      for (const [at, chunk] of chunks.entries()) {
        const next = await openings.next();
        if (next.done) return;
        const repair = repairOf(`repair-${variant}-${at}`, next.value, chunk, edits);
        if (repair !== undefined) yield repair;
      }
    }
  });
}

async function* conversationsOf(shards: readonly string[]): AsyncGenerator<Conversation, void> {
  for (const shard of shards) {
    for await (const line of createInterface({ input: createReadStream(shard) })) {
      yield JSON.parse(line) as Conversation;
    }
  }
}

async function writeLines(file: string, make: () => AsyncIterable<Conversation>): Promise<number> {
  const partial = `${file}.partial`;
  const out = createWriteStream(partial);
  let written = 0;
  for await (const conversation of make()) {
    written += 1;
    if (!out.write(`${JSON.stringify(conversation)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  await rename(partial, file);
  return written;
}

/** Undefined: the conversation lists no module, or one with too few lines. */
export function exerciseOf(
  conversation: Conversation,
  { edits, scrambled, mostCharacters }: NanoSettings['exercises'],
): Conversation | undefined {
  const opening = openingOf(conversation);
  if (opening === undefined) return;
  const chance = createChance('exercise', conversation.id);
  const source = scramble(opening.listing, chance, chance.pick(scrambled));
  const changes = changedLines(source, chance).slice(0, edits);
  if (changes.length < edits) return;
  const exercise = played(`${conversation.id}-exercise`, opening, source, changes);
  return JSON.stringify(exercise).length > mostCharacters ? undefined : exercise;
}

/**
 * A text with some odd tokens in it, and the edits that put them right, from top to bottom. The opening
 * is that of a demonstration, whatever the text is. Undefined: too few lines can be changed.
 */
export function repairOf(
  id: string,
  conversation: Conversation,
  source: string,
  edits: number,
): Conversation | undefined {
  const opening = openingOf(conversation);
  if (opening === undefined) return;
  const chance = createChance('repair', id);
  const lines = source.split('\n');
  const damaged = [...lines];
  const repairs: Change[] = [];
  for (const { line, text } of changedLines(source, chance)) {
    if (repairs.length === edits) break;
    const right = lines[line - 1] ?? '';
    if (right.trim().length < 6 || text.trim() === '') continue;
    damaged[line - 1] = text;
    repairs.push({ line, text: right });
  }
  const broken = damaged.join('\n');
  const unique = repairs.every(({ line }) => occursOnce(damaged, damaged[line - 1] ?? ''));
  if (repairs.length < edits || !unique) return;
  return played(
    id,
    opening,
    broken,
    repairs.sort((a, b) => a.line - b.line),
  );
}

interface Change {
  /** 1-based. */
  readonly line: number;
  /** What the line becomes. */
  readonly text: string;
}

interface Opening {
  readonly messages: readonly [ConversationMessage, ConversationMessage];
  readonly path: string;
  readonly listing: string;
}

/** The first message and the listing of the module; undefined where a demonstration begins otherwise. */
function openingOf({ messages }: Conversation): Opening | undefined {
  const [user, view, listing] = messages;
  if (user?.role !== 'user' || view?.role !== 'assistant' || listing?.role !== 'tool') return;
  const command = view.calls[0]?.arguments.command;
  if (typeof command !== 'string' || !command.startsWith('cat ') || !view.train) return;
  return {
    messages: [user, view],
    path: `/workspace/${command.slice('cat '.length)}`,
    listing: listing.content,
  };
}

/** The listing of `source` behind the opening, and an edit with its observation for each change. */
function played(
  id: string,
  { messages, path }: Opening,
  source: string,
  changes: readonly Change[],
): Conversation {
  const lines = source.split('\n');
  const kept: ConversationMessage[] = [...messages, { role: 'tool', content: source }];
  for (const change of changes) {
    const { line, text } = change;
    const edit = toFragment(lines.join('\n'), asEdit(lines, change));
    if (edit === undefined) continue;
    const { oldText: old_str, newText: new_str } = edit;
    const args = { command: 'str_replace', path, old_str, new_str };
    lines[line - 1] = text;
    const shown = renderEdited(path, lines.join('\n'), { firstLine: line, lastLine: line });
    kept.push(
      {
        role: 'assistant',
        content: '',
        calls: [{ name: 'str_replace_editor', arguments: args }],
        train: true,
      },
      { role: 'tool', content: shown.text },
    );
  }
  return { id, messages: kept };
}

/** What differs between the line and what it becomes, as an edit of the file. */
function asEdit(
  lines: readonly string[],
  { line, text }: Change,
): Pick<Edit, 'from' | 'to' | 'newText'> {
  const old = lines[line - 1] ?? '';
  let start = 0;
  while (start < old.length && start < text.length && old[start] === text[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, text.length) - start;
  while (end < most && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  const before = lines.slice(0, line - 1).reduce((length, each) => length + each.length + 1, 0);
  return {
    from: before + start,
    to: before + old.length - end,
    newText: text.slice(start, text.length - end),
  };
}

const TOKEN = /[A-Za-z_$][\w$]*|\d+|[^\s\w]/g;
const SIGNS = [..."(){}[].,;:=<>+-*/!&|?%'`"];

/**
 * Replaces this share of the tokens by random ones of their kind. What stands in such a text cannot be
 * known from the templates of the modules; it has to be looked up.
 */
function scramble(source: string, chance: Chance, share: number): string {
  return source.replace(TOKEN, (token) => {
    if (!chance.chance(share)) return token;
    if (/^\d/.test(token)) return String(chance.int(0, 99));
    if (/^[\w$]/.test(token)) return newName(chance.chance(0.2) ? 'pascal' : 'camel', chance);
    return SIGNS[chance.int(0, SIGNS.length - 1)] ?? token;
  });
}

/** One change in each line that stands in the text once, in random order. */
function changedLines(source: string, chance: Chance): readonly Change[] {
  const lines = source.split('\n');
  const changes = new Map<number, Change>();
  for (const edit of noiseEdits(source, chance, source.length)) {
    const old = lines[edit.line - 1] ?? '';
    if (changes.has(edit.line) || !occursOnce(lines, old)) continue;
    const start = source.lastIndexOf('\n', edit.from - 1) + 1;
    const text = old.slice(0, edit.from - start) + edit.newText + old.slice(edit.to - start);
    changes.set(edit.line, { line: edit.line, text });
  }
  return [...changes.values()];
}

/** As the editor asks for it: also not as a part of another line. */
function occursOnce(lines: readonly string[], text: string): boolean {
  return lines.filter((line) => line.includes(text)).length === 1;
}
