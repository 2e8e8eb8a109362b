import type { FileTree } from '../../tasks/tree.ts';
import type { SetupStep } from '../description.ts';

/** Languages have base images; a recipe belongs to one. */
export type Language = 'node' | 'python' | 'go' | 'rust' | 'jvm';

/** What one folder of a repository asks for. */
export interface Recipe {
  readonly language: Language;
  /** Used where nobody names another image. */
  readonly image: string;
  /** Paths in the tree that the commands read; `all`: they need the sources. */
  readonly files: 'all' | readonly string[];
  /** Empty: the folder needs nothing but the image. */
  readonly setup: readonly SetupStep[];
  readonly path: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Nothing can be said about a folder although it is one of the language: why, and what to do. */
export interface NoRecipe {
  readonly problem: string;
  readonly remedy: string;
}

export type Recognise = (files: FileTree, folder: string) => Recipe | NoRecipe | undefined;

export const within = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`;

export function textOf(files: FileTree, path: string): string | undefined {
  const file = files.get(path);
  return file === undefined || file.mode === '120000' ? undefined : file.content.toString('utf8');
}

/** Sorted paths below the folder, of those that `wanted` (given the path inside of it) takes. */
export function pathsBelow(
  files: FileTree,
  folder: string,
  wanted: (path: string) => boolean,
): string[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  return [...files.keys()]
    .filter((path) => path.startsWith(prefix) && wanted(path.slice(prefix.length)))
    .sort();
}
