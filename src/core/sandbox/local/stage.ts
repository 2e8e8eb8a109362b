import { posix } from 'node:path';
import { shellQuote } from '../../platform/shell-quote.ts';
import type { DependencyFolder } from '../sandbox.ts';

/** The layer over a base: an overlay where the kernel has it, else a copy that was made before. */
export type Layer =
  | { readonly kind: 'overlay'; readonly tree: string }
  | { readonly kind: 'copy'; readonly folder: string };

export interface StageInput {
  /** Folder of the session; gets `stage`, and `upper<i>` and `work<i>` for each overlay. */
  readonly scratch: string;
  readonly layer: Layer;
  readonly dependencies: readonly DependencyFolder[];
  /** Where the snapshot is seen. */
  readonly places: readonly string[];
  readonly bubblewrap: string;
  /** File with the filter of system calls. */
  readonly seccomp: string | undefined;
  /** Arguments in front of the workspace's mounts. */
  readonly before: readonly string[];
  /** Arguments behind them, with the command. */
  readonly after: readonly string[];
  /** Processes of the namespace, where the kernel counts them for each namespace. */
  readonly pidMax: number | undefined;
}

const words = (list: readonly string[]): string => list.map(shellQuote).join(' ');

/**
 * The text of a bash script that runs as root of a user and mount namespace of its own, mounts the
 * layers, and becomes bubblewrap. Lower folders are bound to plain names first: overlay's options
 * give `:`, `,` and `\` in paths a meaning.
 */
export function stageScript(input: StageInput): string {
  const lines = ['set -e', `cd -- ${shellQuote(input.scratch)}`];
  if (input.pidMax !== undefined) {
    lines.push(`echo ${input.pidMax} >/proc/sys/kernel/pid_max`);
  }
  // A tmpfs holds the mount points, so that nothing of them is left on the disk.
  lines.push('mount -n -t tmpfs -o mode=700 stage stage');
  const overlay = (index: number, lower: string): string[] => [
    `mkdir stage/l${index} stage/m${index}`,
    `mount -n --bind -- ${shellQuote(lower)} stage/l${index}`,
    `mount -n -t overlay overlay -o lowerdir=stage/l${index},upperdir=upper${index},workdir=work${index},userxattr stage/m${index}`,
  ];
  if (input.layer.kind === 'overlay') lines.push(...overlay(0, input.layer.tree));
  else {
    lines.push('mkdir stage/m0', `mount -n --bind -- ${shellQuote(input.layer.folder)} stage/m0`);
  }
  const root = `${input.scratch}/stage`;
  const mounts = input.places.map((place) => words(['--bind', `${root}/m0`, place]));
  input.dependencies.forEach(({ path, hostPath }, position) => {
    const index = position + 1;
    const [prepare = '', bind = '', mount = ''] = overlay(index, hostPath);
    const targets = input.places.map((place) => posix.join(place, path));
    lines.push(
      prepare,
      `d${index}=()`,
      `if ${bind}; then`,
      `  if ${mount} 2>/dev/null; then kind=--bind from=m${index}; else kind=--ro-bind from=l${index}; fi`,
      `  d${index}=(${targets.map((target) => `"$kind" ${shellQuote(`${root}/`)}"$from" ${shellQuote(target)}`).join(' ')})`,
      'fi 2>/dev/null',
    );
    mounts.push(`"\${d${index}[@]}"`);
  });
  const seccomp = input.seccomp === undefined ? [] : ['--seccomp', '9'];
  if (input.seccomp !== undefined) lines.push(`exec 9<${shellQuote(input.seccomp)}`);
  lines.push(
    `exec ${words([input.bubblewrap, ...seccomp, ...input.before])} ${mounts.join(' ')} ${words(input.after)}`,
    '',
  );
  return lines.join('\n');
}
