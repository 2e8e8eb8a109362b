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
 * The text of a bash script that mounts the layers and becomes bubblewrap. For overlays it runs as
 * root of a user and mount namespace of its own; for a copy it needs no privileges. Lower folders
 * are bound to plain names first: overlay's options give `:`, `,` and `\` in paths a meaning.
 */
export function stageScript(input: StageInput): string {
  const lines = ['set -e', `cd -- ${shellQuote(input.scratch)}`];
  const seccomp = input.seccomp === undefined ? [] : ['--seccomp', '9'];
  if (input.seccomp !== undefined) lines.push(`exec 9<${shellQuote(input.seccomp)}`);
  const { prepare, mounts } =
    input.layer.kind === 'overlay'
      ? overlayMounts(input, input.layer.tree)
      : copyMounts(input, input.layer.folder);
  lines.push(
    ...prepare,
    `exec ${words([input.bubblewrap, ...seccomp, ...input.before])} ${mounts.join(' ')} ${words(input.after)}`,
    '',
  );
  return lines.join('\n');
}

interface Mounts {
  /** Lines of the script. */
  readonly prepare: readonly string[];
  /** Arguments for bubblewrap, as words of the script. */
  readonly mounts: readonly string[];
}

function overlayMounts(input: StageInput, tree: string): Mounts {
  const prepare: string[] = [];
  if (input.pidMax !== undefined) prepare.push(`echo ${input.pidMax} >/proc/sys/kernel/pid_max`);
  // A tmpfs holds the mount points, so that nothing of them is left on the disk.
  prepare.push('mount -n -t tmpfs -o mode=700 stage stage');
  const from = (name: string): string => `${shellQuote(`${input.scratch}/stage/`)}${name}`;
  const overlay = (index: number, path: string) => {
    const safe = /^[\w@%+=./-]+$/.test(path);
    const lower = safe ? path : `stage/l${index}`;
    return {
      folders: `mkdir stage/l${index} stage/m${index}`,
      bind: safe
        ? `[[ -d ${path} ]]`
        : `mount -n --bind -- ${shellQuote(path)} ${lower} 2>/dev/null`,
      mount: `mount -n -t overlay overlay -o lowerdir=${lower},upperdir=upper${index},workdir=work${index},userxattr stage/m${index}`,
      lower: safe ? path : from(`l${index}`),
    };
  };
  const root = overlay(0, tree);
  const missing = shellQuote(`The base of the snapshot, ${tree}, does not exist.`);
  prepare.push(root.folders, `${root.bind} || { echo ${missing} >&2; exit 1; }`, root.mount);
  const mounts = input.places.map((place) => `--bind ${from('m0')} ${shellQuote(place)}`);
  input.dependencies.forEach(({ path, hostPath }, position) => {
    const index = position + 1;
    const { folders, bind, mount, lower } = overlay(index, hostPath);
    const targets = input.places.map((place) => shellQuote(posix.join(place, path)));
    prepare.push(
      folders,
      `d${index}=()`,
      // A folder that is gone is left out; one that cannot be lower (another file system's
      // peculiarity) is seen read-only.
      `if ${bind}; then`,
      `  if ${mount} 2>/dev/null; then kind=--bind from=${from(`m${index}`)}; else kind=--ro-bind from=${lower}; fi`,
      `  d${index}=(${targets.map((target) => `"$kind" "$from" ${target}`).join(' ')})`,
      'fi',
    );
    mounts.push(`"\${d${index}[@]}"`);
  });
  return { prepare, mounts };
}

function copyMounts(input: StageInput, folder: string): Mounts {
  const mounts = input.places.map((place) => words(['--bind', folder, place]));
  for (const { path, hostPath } of input.dependencies) {
    for (const place of input.places) {
      mounts.push(words(['--ro-bind-try', hostPath, posix.join(place, path)]));
    }
  }
  return { prepare: [], mounts };
}
