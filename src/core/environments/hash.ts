import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { FileTree } from '../tasks/tree.ts';
import { treeHash } from '../tasks/tree.ts';
import type { EnvironmentBase, EnvironmentDescription } from './description.ts';

/** Raised when the same description would be built otherwise. */
const RECIPE_VERSION = 1;

/** The files that the set-up sees. */
export function setupFiles(description: EnvironmentDescription, files: FileTree): FileTree {
  const { files: wanted } = description;
  if (wanted === 'all') return files;
  return new Map([...files].filter(([path]) => wanted.includes(path)));
}

type DockerfileBase = Extract<EnvironmentBase, { kind: 'dockerfile' }>;

/** The files that a build of the Dockerfile sees, by their paths inside of its context. */
export function contextFiles(base: DockerfileBase, files: FileTree): FileTree {
  const dockerfile = files.get(base.dockerfile);
  // Without it a changed source would build the same image again.
  const copies = /^\s*(?:COPY|ADD|RUN\s+--mount)\b/im.test(dockerfile?.content.toString() ?? '');
  const prefix = base.context === '' ? '' : `${base.context}/`;
  const context = new Map(
    [...files]
      .filter(([path]) => copies && path.startsWith(prefix))
      .map(([path, file]) => [path.slice(prefix.length), file]),
  );
  if (dockerfile !== undefined) context.set(dockerfileName(base), dockerfile);
  return context;
}

/** Where the Dockerfile is in the archive of its context; it may lie outside of the context. */
export function dockerfileName({ dockerfile, context }: DockerfileBase): string {
  const path = posix.relative(context, dockerfile);
  return path.startsWith('..') ? '.prime-agent.Dockerfile' : path;
}

/** Images that a Dockerfile builds on, as it names them; its own stages are left out. */
export function imagesOf(dockerfile: string): readonly string[] {
  const stages = new Set<string>();
  const images: string[] = [];
  for (const [, image = '', stage] of dockerfile.matchAll(
    /^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?/gim,
  )) {
    if (!stages.has(image.toLowerCase()) && image !== 'scratch') images.push(image);
    if (stage !== undefined) stages.add(stage.toLowerCase());
  }
  return [...new Set(images)];
}

/** Key of an image built from a Dockerfile. `ids`: what its images are on the engine, if they are there. */
export function dockerfileHash(
  base: DockerfileBase,
  files: FileTree,
  ids: Readonly<Record<string, string>>,
): string {
  return hashOf([
    'dockerfile',
    RECIPE_VERSION,
    treeHash(contextFiles(base, files)),
    dockerfileName(base),
    base.target ?? null,
    sorted(base.args),
    sorted(ids),
  ]);
}

/**
 * Everything that decides what an environment is: the base's content, the files that the set-up
 * sees with their bytes, commands, variables, and the version of this recipe.
 *
 * @param baseId id of the base image, which is a hash of its content
 * @returns 64 hexadecimal digits
 */
export function environmentHash(
  description: EnvironmentDescription,
  files: FileTree,
  baseId: string,
): string {
  const { setup, path, variables } = description;
  return hashOf([
    'environment',
    RECIPE_VERSION,
    baseId,
    treeHash(setupFiles(description, files)),
    setup.map(({ folder, command }) => [folder, command]),
    path,
    sorted(variables),
  ]);
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function sorted(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
