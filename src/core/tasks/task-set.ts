import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { packTree, unpackTree } from './archive.ts';
import type { SplitName } from './split.ts';
import { hasOwnId, TASK_VERSION, type Task, taskSchema } from './task.ts';
import { type FileTree, type TreeFile, treeHash, writesOutside } from './tree.ts';

/** Tasks with the trees of files that they are made from. */
export interface TaskSet {
  readonly entries: readonly TaskEntry[];
  readonly trees: ReadonlyMap<string, FileTree>;
}

export interface TaskEntry {
  readonly task: Task;
  /** undefined: the set was not split, or the task is in no part. */
  readonly split?: SplitName;
}

/** What is wrong with a file of tasks, with its place and what to do. */
export class TaskFileError extends Error {
  override readonly name = 'TaskFileError';
}

const FORMAT = 'prime-agent-tasks';
/** Larger trees go to an archive of their own next to the file. */
const MOST_INLINE_BYTES = 64 * 1024;

const fileSchema = z.union([
  z.string(),
  z.strictObject({ mode: z.enum(['100644', '100755', '120000']), base64: z.string() }),
]);

const lineSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('header'), format: z.literal(FORMAT), version: z.string() }),
  z.strictObject({
    type: z.literal('tree'),
    hash: z.string(),
    /** Path → text of a plain file, or the bytes of another. */
    files: z.record(z.string(), fileSchema),
  }),
  z.strictObject({
    type: z.literal('archive'),
    hash: z.string(),
    /** Next to the file of tasks; gzip. */
    file: z.string(),
  }),
  z.strictObject({
    type: z.literal('task'),
    split: z.enum(['train', 'held-out', 'new-family', 'new-operator']).optional(),
    task: taskSchema,
  }),
]);

type Line = z.output<typeof lineSchema>;

/**
 * Writes a set as JSON Lines: a header, then each tree in front of its first task. A name that
 * ends with `.gz` is compressed. The same set gives the same bytes (before compression).
 */
export async function writeTaskSet(file: string, set: TaskSet): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const lines: Line[] = [{ type: 'header', format: FORMAT, version: TASK_VERSION }];
  const written = new Set<string>();
  for (const { task, split } of set.entries) {
    if (!written.has(task.tree)) {
      written.add(task.tree);
      lines.push(await treeLine(folder, task.tree, set.trees.get(task.tree)));
    }
    lines.push({ type: 'task', ...(split === undefined ? {} : { split }), task });
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await writeWhole(file, file.endsWith('.gz') ? gzipSync(text, { level: 9 }) : Buffer.from(text));
}

async function treeLine(folder: string, hash: string, tree: FileTree | undefined): Promise<Line> {
  if (tree === undefined) throw new Error(`The set has no tree ${hash}.`);
  const bytes = [...tree.values()].reduce((sum, { content }) => sum + content.length, 0);
  if (bytes <= MOST_INLINE_BYTES) {
    return {
      type: 'tree',
      hash,
      files: Object.fromEntries(
        [...tree]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([path, found]) => [path, inline(found)]),
      ),
    };
  }
  const name = `tree-${hash.slice(0, 24)}.tar.gz`;
  await writeWhole(join(folder, name), packTree(tree));
  return { type: 'archive', hash, file: name };
}

function inline({ mode, content }: TreeFile): z.output<typeof fileSchema> {
  const text = content.toString('utf8');
  return mode === '100644' && Buffer.from(text).equals(content)
    ? text
    : { mode, base64: content.toString('base64') };
}

async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  try {
    await writeFile(draft, content);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Reads a set and checks every hash in it. Throws `TaskFileError`. */
export async function readTaskSet(file: string): Promise<TaskSet> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new TaskFileError(
      `The tasks cannot be read: ${why}. Name a file that \`prime-agent tasks build\` wrote.`,
    );
  });
  const text = unpack(file, bytes).toString('utf8');
  const entries: TaskEntry[] = [];
  const trees = new Map<string, FileTree>();
  for (const [at, source] of text.split('\n').entries()) {
    const where = `${file}, line ${at + 1}`;
    if (source === '') {
      if (at === 0) throw new TaskFileError(`${where}: the file is empty. Build the tasks again.`);
      continue;
    }
    const line = readLine(source, where);
    if (at === 0 && line.type !== 'header') {
      throw new TaskFileError(
        `${where}: this is no file of tasks: it does not begin with a header.`,
      );
    }
    switch (line.type) {
      case 'header':
        if (line.version.split('.')[0] !== TASK_VERSION.split('.')[0]) {
          throw new TaskFileError(
            `${where}: the tasks have version ${line.version}, this program reads ${TASK_VERSION}. Build them again.`,
          );
        }
        break;
      case 'tree':
        trees.set(line.hash, checked(inlineTree(line.files), line.hash, where));
        break;
      case 'archive':
        trees.set(line.hash, checked(await archiveTree(file, line.file, where), line.hash, where));
        break;
      case 'task':
        if (!trees.has(line.task.tree) || !hasOwnId(line.task)) {
          throw new TaskFileError(
            `${where}: the task was changed, or its tree is missing. Build the tasks again.`,
          );
        }
        entries.push({
          task: line.task,
          ...(line.split === undefined ? {} : { split: line.split }),
        });
        break;
    }
  }
  return { entries, trees };
}

function unpack(file: string, bytes: Buffer): Buffer {
  if (!file.endsWith('.gz')) return bytes;
  try {
    return gunzipSync(bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TaskFileError(`${file} is damaged: ${why}. Build the tasks again.`);
  }
}

function readLine(source: string, where: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new TaskFileError(
      `${where} is not JSON: the file is cut off or damaged. Build the tasks again.`,
    );
  }
  const parsed = lineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TaskFileError(`${where}: ${z.prettifyError(parsed.error)}`);
}

function inlineTree(files: Readonly<Record<string, z.output<typeof fileSchema>>>): FileTree {
  return new Map(
    Object.entries(files).map(([path, file]) => [
      path,
      typeof file === 'string'
        ? { mode: '100644' as const, content: Buffer.from(file) }
        : { mode: file.mode, content: Buffer.from(file.base64, 'base64') },
    ]),
  );
}

async function archiveTree(file: string, name: string, where: string): Promise<FileTree> {
  if (!/^tree-[0-9a-f]+\.tar\.gz$/.test(name))
    throw new TaskFileError(`${where}: ${name} is no name of an archive.`);
  try {
    return unpackTree(await readFile(join(dirname(file), name)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TaskFileError(
      `${where}: ${name} cannot be read: ${why}. It belongs next to the file of tasks.`,
    );
  }
}

function checked(tree: FileTree, hash: string, where: string): FileTree {
  const unsafe = writesOutside(tree);
  if (unsafe !== undefined)
    throw new TaskFileError(`${where}: ${JSON.stringify(unsafe)} leads out of the tree.`);
  if (treeHash(tree) !== hash)
    throw new TaskFileError(
      `${where}: the files are not those of the hash. Build the tasks again.`,
    );
  return tree;
}
