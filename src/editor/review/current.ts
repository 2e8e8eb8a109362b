import { Buffer, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as vscode from 'vscode';
import type { Blob } from '../../core/snapshot/blob-repository.ts';
import type { Now } from './model.ts';

/** Reads a file as it is now; what is open in the editor counts as the editor has it. */
export async function readNow(vs: typeof vscode, uri: vscode.Uri): Promise<Now> {
  const path = uri.fsPath;
  const stat = await lstat(path).catch(() => undefined);
  const writable = (at: string): Promise<boolean> => isWritable(vs, uri, at);
  if (!stat) return { kind: 'missing', writable: await writable(await existingParent(path)) };
  if (!stat.isFile()) return { kind: 'other' };
  const bytes = await readFile(path).catch(() => undefined);
  if (!bytes) return { kind: 'other' };
  const document = openDocument(vs, uri);
  return {
    kind: 'file',
    hash: gitHash(bytes),
    mode: modeOf(stat.mode),
    text: document ? document.getText() : textOf(bytes),
    unsaved: document?.isDirty === true,
    writable: await writable(path),
  };
}

/** undefined: no file. */
export async function readBlob(uri: vscode.Uri): Promise<Blob | undefined> {
  const stat = await lstat(uri.fsPath).catch(() => undefined);
  if (!stat?.isFile()) return undefined;
  return { mode: modeOf(stat.mode), content: await readFile(uri.fsPath) };
}

/** Does the way to a file lead through a symbolic link, and so maybe out of the folder? */
export async function isBehindLink(folder: vscode.Uri, uri: vscode.Uri): Promise<boolean> {
  for (let at = dirname(uri.fsPath); at.length > folder.fsPath.length; at = dirname(at)) {
    const stat = await lstat(at).catch(() => undefined);
    if (stat?.isSymbolicLink()) return true;
  }
  return false;
}

/** The name that git gives to a file's bytes. */
export function gitHash(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** As the editor shows it; undefined: not text. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}

/** The editor makes the line endings of a text all the same when it saves it. */
export function hasMixedEndings(text: string): boolean {
  const pairs = text.match(/\r\n/g)?.length ?? 0;
  const returns = text.match(/\r/g)?.length ?? 0;
  const feeds = text.match(/\n/g)?.length ?? 0;
  return returns !== pairs || (pairs > 0 && pairs !== feeds);
}

export function openDocument(vs: typeof vscode, uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vs.workspace.textDocuments.find((document) => document.uri.toString() === key);
}

function modeOf(mode: number): '100644' | '100755' {
  return mode & 0o100 ? '100755' : '100644';
}

async function isWritable(vs: typeof vscode, uri: vscode.Uri, path: string): Promise<boolean> {
  if (vs.workspace.fs.isWritableFileSystem(uri.scheme) === false) return false;
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function existingParent(path: string): Promise<string> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (folder === dirname(folder)) return folder;
    const stat = await lstat(folder).catch(() => undefined);
    if (stat) return folder;
  }
}
