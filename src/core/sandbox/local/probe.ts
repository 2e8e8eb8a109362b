import { mkdir, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../platform/run-program.ts';
import type { SandboxAvailability } from '../sandbox.ts';
import { createScratch } from '../scratch.ts';
import { type BubblewrapFeatures, isolationArguments } from './arguments.ts';

export interface LocalSupport {
  readonly availability: SandboxAvailability;
  readonly features: BubblewrapFeatures;
  /** Layers can be overlays; otherwise they are copies, for this reason. */
  readonly overlay: { readonly works: true } | { readonly works: false; readonly reason: string };
  /** The kernel counts processes for each namespace (Linux 6.14), which limits root as well. */
  readonly pidMax: boolean;
}

const NO_FEATURES: BubblewrapFeatures = { disableUserns: false, size: false, perms: false };

function unavailable(reason: string, remedy: string): LocalSupport {
  return {
    availability: { available: false, reason, remedy },
    features: NO_FEATURES,
    overlay: { works: false, reason: 'no sandbox' },
    pidMax: false,
  };
}

/** What to do when namespaces are refused, from what the programs said. */
export function namespaceRemedy(said: string, facts: { readonly apparmor: string }): string {
  if (facts.apparmor.trim() === '1') {
    return (
      'AppArmor keeps ordinary users from making namespaces (Ubuntu 23.10 and newer). Allow it for ' +
      'bubblewrap: `sudo apt-get install apparmor-profiles && sudo ln -s ' +
      '/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo apparmor_parser -r ' +
      '/etc/apparmor.d/bwrap-userns-restrict`, or for every program: `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.'
    );
  }
  if (/Creating new namespace failed|No permissions to creat|Operation not permitted/.test(said)) {
    return (
      'The kernel refuses user namespaces. Where it is a setting: `sudo sysctl -w user.max_user_namespaces=15000` ' +
      '(Debian 10: `kernel.unprivileged_userns_clone=1`). Inside a container, start it with ' +
      '`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or use `--sandbox docker`.'
    );
  }
  if (/mount proc|Can't mount proc/.test(said)) {
    return 'The surrounding container hides parts of /proc: start it with `--security-opt systempaths=unconfined`, or use `--sandbox docker`.';
  }
  return 'Use `--sandbox docker`, or `--sandbox none` if you accept that commands run without isolation.';
}

async function tryOverlay(stateDir: string): Promise<LocalSupport['overlay']> {
  const scratch = await createScratch(stateDir);
  try {
    for (const name of ['lower', 'upper', 'work', 'merged'])
      await mkdir(join(scratch.folder, name));
    await writeFile(join(scratch.folder, 'lower', 'file'), 'x');
    const result = await runProgram(
      'unshare',
      [
        '--user',
        '--map-root-user',
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        '--',
        'bash',
        '-c',
        'mount -n -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr merged && echo y >merged/file && rm merged/file',
      ],
      { cwd: scratch.folder, timeoutMs: 10_000 },
    );
    if (result.code === 0) return { works: true };
    return { works: false, reason: result.stderr.trim().split('\n').pop() ?? 'unknown' };
  } finally {
    await scratch.remove();
  }
}

/** From Linux 6.14 on `kernel.pid_max` belongs to the pid namespace; before, writing it changes the host. */
export function pidMaxIsPerNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}

/** Really starts a sandbox once, and really mounts an overlay once. */
export async function probeLocal(stateDir: string): Promise<LocalSupport> {
  if (process.platform === 'darwin') {
    return unavailable(
      'The local sandbox of macOS (sandbox-exec) is not built yet',
      'Use `--sandbox docker`, or `--sandbox none` if you accept that commands run without isolation.',
    );
  }
  if (process.platform !== 'linux') {
    return unavailable(
      `There is no local sandbox on ${process.platform}`,
      'On Windows, open the folder in WSL; or use `--sandbox docker`.',
    );
  }
  const help = await runProgram('bwrap', ['--help'], { timeoutMs: 10_000 });
  if (help.code === 127) {
    return unavailable(
      'bubblewrap (bwrap) was not found',
      'Install it: `sudo apt-get install bubblewrap` (Fedora: `sudo dnf install bubblewrap`).',
    );
  }
  const helpText = help.stdout + help.stderr;
  const features: BubblewrapFeatures = {
    disableUserns: helpText.includes('--disable-userns'),
    size: helpText.includes('--size'),
    perms: helpText.includes('--perms'),
  };
  const [version, attempt, apparmor, overlay] = await Promise.all([
    runProgram('bwrap', ['--version'], { timeoutMs: 10_000 }),
    runProgram(
      'bwrap',
      [
        ...isolationArguments(features),
        ...[
          '--ro-bind',
          '/',
          '/',
          '--proc',
          '/proc',
          '--dev',
          '/dev',
          '--',
          'bash',
          '-c',
          'exit 42',
        ],
      ],
      { timeoutMs: 10_000 },
    ),
    runProgram('cat', ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns']),
    tryOverlay(stateDir),
  ]);
  if (attempt.code !== 42) {
    const said = attempt.stderr.trim();
    return unavailable(
      `bubblewrap cannot isolate here: ${said || `exit code ${attempt.code}`}`,
      namespaceRemedy(said, { apparmor: apparmor.stdout }),
    );
  }
  const layers = overlay.works ? 'overlay layers' : `copied layers (no overlay: ${overlay.reason})`;
  return {
    availability: {
      available: true,
      detail: `${version.stdout.trim() || 'bubblewrap'}, ${layers}`,
    },
    features,
    overlay,
    pidMax: overlay.works && pidMaxIsPerNamespace(release()),
  };
}
