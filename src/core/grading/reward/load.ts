import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { type RewardSpec, readRewardSpec } from './spec.ts';

/** A reward of the user's own, with what decides it read. */
export interface CustomReward {
  readonly spec: RewardSpec;
  /** Source of the module as it is in the unchanged workspace; empty for a command. */
  readonly moduleText: string;
}

/** How a user names a reward: by a file (JSON or a module), or by a command. */
export type RewardWish = (
  | { readonly kind: 'file' /** Absolute. */; readonly path: string }
  | { readonly kind: 'command'; readonly command: string }
) & {
  /** Files and folders that decide it, besides those that a JSON file names. */
  readonly files: readonly string[];
  /** Where a JSON file does not say it. */
  readonly timeoutSeconds: number;
};

export type LoadedReward =
  | { readonly kind: 'reward'; readonly reward: CustomReward }
  | { readonly kind: 'problem'; readonly reason: string; readonly remedy: string };

/** @param root of the workspace, absolute */
export async function loadReward(root: string, wish: RewardWish): Promise<LoadedReward> {
  const { files, timeoutSeconds } = wish;
  if (wish.kind === 'command') {
    const { command } = wish;
    return finish(root, { kind: 'command', command, files, timeoutSeconds }, 'The command');
  }
  if (extname(wish.path) !== '.json') {
    const path = relative(root, wish.path).split(sep).join('/');
    return finish(root, { kind: 'module', path, files, timeoutSeconds }, wish.path);
  }
  const text = await textOf(wish.path);
  if (text === undefined) return unreadable(wish.path);
  const read = readRewardSpec(text, wish.path);
  if (read.kind === 'problem') return read;
  return finish(root, { ...read.spec, files: [...read.spec.files, ...files] }, wish.path);
}

async function finish(root: string, spec: object, name: string): Promise<LoadedReward> {
  const read = readRewardSpec(JSON.stringify(spec), name);
  if (read.kind === 'problem') return read;
  if (read.spec.kind === 'command') return { kind: 'reward', reward: { ...read, moduleText: '' } };
  const moduleText = await textOf(join(root, read.spec.path));
  if (moduleText === undefined) return unreadable(join(root, read.spec.path));
  return { kind: 'reward', reward: { spec: read.spec, moduleText } };
}

function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function unreadable(path: string): LoadedReward {
  return {
    kind: 'problem',
    reason: `The reward ${path} cannot be read.`,
    remedy:
      'Name a JSON file or a module of the repository (.mjs or .js); docs/custom-rewards.md shows both.',
  };
}
