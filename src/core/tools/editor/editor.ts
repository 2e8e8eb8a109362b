import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import {
  type FileInfo,
  SandboxFileError,
  type SandboxFiles,
  type SandboxSession,
  WORKSPACE,
} from '../../sandbox/sandbox.ts';
import {
  checkPath,
  fileErrorText,
  nearNames,
  relativeToWorkspace,
  tooLargeText,
} from '../paths.ts';
import type { Tool, ToolResult } from '../tool.ts';
import { insertLines, replaceOnce } from './edit.ts';
import { toUnits, unitsToText } from './encoding.ts';
import { createEditHistory, type EditHistory } from './history.ts';
import { toNormal } from './lines.ts';
import { findNearMiss } from './nearest.ts';
import { type EditorCall, editorParameters } from './parameters.ts';
import {
  failed,
  IGNORED_NOTE,
  type Rendered,
  renderCreated,
  renderDangling,
  renderEdited,
  renderExists,
  renderFolder,
  renderIsFolder,
  renderMissing,
  renderNotAFile,
  renderNotEdited,
  renderParentIsFile,
  renderTextTooLarge,
  renderUndo,
  renderView,
} from './render.ts';

/** Larger files are for bash. */
const MAX_FILE_BYTES = 8_000_000;
/** What undo keeps in memory, in bytes. */
const MAX_HISTORY_BYTES = 64_000_000;
/** Entries that are asked of the sandbox for a folder and for suggestions. */
const MAX_ENTRIES = 5_000;

/** For the small programs that the editor runs, in milliseconds. */
const PROGRAM_TIMEOUT_MS = 10_000;

type EditorSession = Pick<SandboxSession, 'files' | 'run'>;

interface Editor {
  readonly session: EditorSession;
  readonly files: SandboxFiles;
  readonly history: EditHistory;
}

/** A file that a call names: `path` as written, `info.realPath` behind symbolic links. */
interface Target {
  readonly path: string;
  readonly info: FileInfo;
}

/**
 * `str_replace_editor`, the contract that models are trained on. Works on bytes: what an edit does
 * not touch stays as it is. An undo is refused when something else changed the file meanwhile.
 */
export function createEditorTool(session: EditorSession): Tool<typeof editorParameters> {
  const editor: Editor = {
    session,
    files: session.files,
    history: createEditHistory(MAX_HISTORY_BYTES),
  };
  return {
    name: 'str_replace_editor',
    description:
      'View, create and edit text files. view shows a file with line numbers, or a folder two ' +
      'levels deep; undo_edit takes back the last edit of a file.',
    parameters: editorParameters,
    run: (call) => runCall(editor, call),
  };
}

async function runCall(editor: Editor, call: EditorCall): Promise<ToolResult> {
  try {
    const checked = await checkPath(editor.files, call.path);
    if (checked.kind === 'refused') return failed(checked.text);
    const target: Target = { path: checked.path, info: checked.info };
    switch (call.command) {
      case 'view':
        return await view(editor, target, call.range);
      case 'create':
        return await create(editor, target, call.text);
      case 'str_replace':
      case 'insert':
        return await edit(editor, target, call);
      case 'undo_edit':
        return await undo(editor, target);
    }
  } catch (error) {
    return failed(fileErrorText(error, call.path));
  }
}

async function view(
  editor: Editor,
  target: Target,
  range: readonly [number, number] | undefined,
): Promise<Rendered> {
  const { files } = editor;
  const { path, info } = target;
  if (info.kind === 'directory') {
    if (range) return renderIsFolder(path, 'view_range');
    const entries = await files.list(path, 2, MAX_ENTRIES);
    const shown = entries.map((entry) => ({ ...entry, path: entry.path.slice(path.length + 1) }));
    return { ok: true, text: renderFolder(path, shown, entries.length >= MAX_ENTRIES) };
  }
  const problem = await notAnEditableFile(editor, target, 'view');
  if (problem) return problem;
  const text = readable(await files.read(path, MAX_FILE_BYTES));
  if (text === undefined) return renderNotEdited(path, { kind: 'binary' });
  return renderView(path, text, range);
}

async function create(editor: Editor, target: Target, text: string): Promise<ToolResult> {
  const { files, history } = editor;
  const { path, info } = target;
  if (info.kind === 'directory') return renderIsFolder(path, 'create');
  if (info.kind === 'missing' && info.isSymlink) return renderDangling(path);
  if (info.kind !== 'missing') return renderExists(path);
  if (/\p{Cs}/u.test(text)) return renderNotEdited(path, { kind: 'lone-surrogate' });
  const after = Buffer.from(text, 'utf8');
  if (after.length > MAX_FILE_BYTES) return renderTextTooLarge(MAX_FILE_BYTES);

  const folders: string[] = [];
  for (let folder = posix.dirname(info.realPath); ; folder = posix.dirname(folder)) {
    const { kind } = await files.inspect(folder);
    if (kind === 'directory') break;
    if (kind !== 'missing') return renderParentIsFile(path, folder);
    folders.push(folder);
  }
  await files.write(path, after);
  history.push(info.realPath, { before: undefined, after, folders });
  return withIgnoreNote(editor, changed(target, renderCreated(path, text)), target);
}

async function edit(
  editor: Editor,
  target: Target,
  call: Extract<EditorCall, { command: 'str_replace' | 'insert' }>,
): Promise<ToolResult> {
  const { files, history } = editor;
  const { path, info } = target;
  const problem = await notAnEditableFile(editor, target, call.command);
  if (problem) return problem;
  const before = await files.read(path, MAX_FILE_BYTES);
  const outcome =
    call.command === 'insert'
      ? insertLines(before, call.line, call.text)
      : replaceOnce(before, call.oldText, call.newText);
  if (outcome.kind === 'not-found' && call.command === 'str_replace') {
    const text = readable(before) ?? '';
    return renderNotEdited(path, outcome, findNearMiss(text, call.oldText, call.newText), text);
  }
  if (outcome.kind !== 'edited') return renderNotEdited(path, outcome);
  if (outcome.bytes.length > MAX_FILE_BYTES) return renderTextTooLarge(MAX_FILE_BYTES);

  await files.write(path, outcome.bytes);
  history.push(info.realPath, { before, after: outcome.bytes, folders: [] });
  const shown = renderEdited(path, readable(outcome.bytes) ?? '', outcome);
  return withIgnoreNote(editor, changed(target, shown), target);
}

async function undo({ session, files, history }: Editor, target: Target): Promise<ToolResult> {
  const { path, info } = target;
  if (info.kind === 'directory') return renderIsFolder(path, 'undo_edit');
  const last = history.last(info.realPath);
  if (!last) return renderUndo(path, { kind: 'nothing-to-undo' });
  const now = info.kind === 'file' && info.size === last.after.length;
  if (!now || !last.after.every(sameAs(await files.read(path, MAX_FILE_BYTES)))) {
    return renderUndo(path, { kind: 'changed-since' });
  }
  if (last.before) {
    await files.write(path, last.before);
    history.pop(info.realPath);
    const left = history.size(info.realPath);
    return changed(target, renderUndo(path, { kind: 'restored', left }));
  }
  await files.remove(info.realPath);
  history.pop(info.realPath);
  const folders = await removeEmpty(session, last.folders);
  return changed(target, renderUndo(path, { kind: 'removed', folders }));
}

/** A change of a dependency or a build output can make tests pass here, but is in no patch. */
async function withIgnoreNote(
  { session }: Editor,
  result: ToolResult,
  { info }: Target,
): Promise<ToolResult> {
  const { end } = await session.run(
    { argv: ['git', 'check-ignore', '-q', '--', `./${relativeToWorkspace(info.realPath)}`] },
    { timeoutMs: PROGRAM_TIMEOUT_MS, maxOutputBytes: 1_000 },
  );
  const ignored = end.kind === 'exited' && end.code === 0;
  return ignored ? { ...result, text: `${result.text}\n${IGNORED_NOTE}` } : result;
}

/** Removes folders, deepest first, until one is in use. Returns how many. */
async function removeEmpty(session: EditorSession, folders: readonly string[]): Promise<number> {
  for (const [index, folder] of folders.entries()) {
    // `rmdir`, since `files.remove` takes what is in a folder along.
    const removed = await session.run(
      { argv: ['rmdir', '--', folder] },
      { timeoutMs: PROGRAM_TIMEOUT_MS, maxOutputBytes: 1_000 },
    );
    if (removed.end.kind !== 'exited' || removed.end.code !== 0) return index;
  }
  return folders.length;
}

async function notAnEditableFile(
  editor: Editor,
  { path, info }: Target,
  command: string,
): Promise<Rendered | undefined> {
  switch (info.kind) {
    case 'directory':
      return renderIsFolder(path, command);
    case 'missing':
      return info.isSymlink
        ? renderDangling(path)
        : renderMissing(path, await suggest(editor, path));
    case 'other':
      return renderNotAFile(path);
    case 'file':
      if (info.size <= MAX_FILE_BYTES) return undefined;
      return failed(tooLargeText(path, info.size, MAX_FILE_BYTES));
  }
}

/** Paths that may be meant: near names in the same folder, else the same name elsewhere. */
async function suggest({ session, files }: Editor, path: string): Promise<readonly string[]> {
  const folder = posix.dirname(path);
  const name = posix.basename(path);
  const siblings = await namesIn(files, folder);
  const near = nearNames(name, siblings).map((sibling) => posix.join(folder, sibling));
  if (near.length > 0) return near;
  const pattern = `:(glob)**/${name.replace(/[*?[\]\\]/g, '\\$&')}`;
  const { end, output } = await session.run(
    {
      argv: ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', pattern],
      capture: 'stdout',
    },
    { timeoutMs: PROGRAM_TIMEOUT_MS, maxOutputBytes: 10_000 },
  );
  if (end.kind !== 'exited' || end.code !== 0) return [];
  const found = Buffer.from(output.head).toString('utf8').split('\0');
  // The last piece is empty, or cut.
  return found.slice(0, Math.min(3, found.length - 1)).map((other) => `${WORKSPACE}/${other}`);
}

async function namesIn(files: SandboxFiles, folder: string): Promise<readonly string[]> {
  try {
    const entries = await files.list(folder, 1, MAX_ENTRIES);
    return entries.map((entry) => posix.basename(entry.path));
  } catch (error) {
    if (error instanceof SandboxFileError) return [];
    throw error;
  }
}

/** The text that the model sees of a file. undefined: binary. */
function readable(bytes: Uint8Array): string | undefined {
  const file = toUnits(bytes);
  return file && unitsToText(toNormal(file.units).text, file.encoding);
}

function sameAs(bytes: Uint8Array): (byte: number, index: number) => boolean {
  return (byte, index) => bytes[index] === byte;
}

function changed({ info }: Target, rendered: Rendered): ToolResult {
  return { ...rendered, detail: { changed: [relativeToWorkspace(info.realPath)] } };
}
