import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type {
  Conversation,
  ConversationMessage,
} from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { newName } from '../../src/core/tasks/demonstrations/words.ts';
import { noiseEdits } from '../../src/core/tasks/generate/token-noise.ts';
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
  const partial = `${file}.partial`;
  const out = createWriteStream(partial);
  let written = 0;
  for (const shard of shards) {
    for await (const line of createInterface({ input: createReadStream(shard) })) {
      const exercise = exerciseOf(JSON.parse(line) as Conversation, settings);
      if (exercise === undefined) continue;
      written += 1;
      if (!out.write(`${JSON.stringify(exercise)}\n`)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'close');
  await rename(partial, file);
  return written;
}

/** Undefined: the conversation lists no module, or one with too few lines. */
export function exerciseOf(
  { id, messages }: Conversation,
  { edits, scrambled, mostCharacters }: NanoSettings['exercises'],
): Conversation | undefined {
  const [user, view, listing] = messages;
  if (user?.role !== 'user' || view?.role !== 'assistant' || listing?.role !== 'tool') return;
  const command = view.calls[0]?.arguments.command;
  if (typeof command !== 'string' || !command.startsWith('cat ') || !view.train) return;
  const path = `/workspace/${command.slice('cat '.length)}`;
  const chance = createChance('exercise', id);
  const source = scramble(listing.content, chance, chance.pick(scrambled));
  const changes = changedLines(source, chance).slice(0, edits);
  if (changes.length < edits) return;
  const lines = source.split('\n');
  const kept: ConversationMessage[] = [user, view, { role: 'tool', content: source }];
  for (const { line, text } of changes) {
    const old = lines[line - 1] ?? '';
    const args = { command: 'str_replace', path, old_str: old, new_str: text };
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
  const exercise = { id: `${id}-exercise`, messages: kept };
  return JSON.stringify(exercise).length > mostCharacters ? undefined : exercise;
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

/** One change in each line that stands in the file once, in random order. */
function changedLines(
  source: string,
  chance: Chance,
): readonly { readonly line: number; readonly text: string }[] {
  const lines = source.split('\n');
  const changes = new Map<number, { readonly line: number; readonly text: string }>();
  for (const edit of noiseEdits(source, chance, source.length)) {
    const old = lines[edit.line - 1] ?? '';
    if (changes.has(edit.line) || lines.filter((line) => line.includes(old)).length > 1) continue;
    const start = source.lastIndexOf('\n', edit.from - 1) + 1;
    const text = old.slice(0, edit.from - start) + edit.newText + old.slice(edit.to - start);
    changes.set(edit.line, { line: edit.line, text });
  }
  return [...changes.values()];
}
