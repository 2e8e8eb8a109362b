import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolder } from '../../platform/state-folder.ts';
import { copyTree } from '../copy-tree.ts';
import { sandboxEnvironment } from '../environment.ts';
import { createSandboxFiles } from '../files.ts';
import {
  SANDBOX_HOME,
  SUPERVISOR_PROGRAMS,
  supervisorCommand,
  workspacePlaces,
} from '../inside.ts';
import {
  SandboxFailure,
  type SandboxProvider,
  type SandboxSession,
  type SandboxSpec,
  WORKSPACE,
} from '../sandbox.ts';
import { openInScratch, type Scratch } from '../scratch.ts';
import { attachSupervisor } from '../supervisor/attach.ts';
import supervisorScript from '../supervisor/supervisor.sh';
import { createSupervisorClient } from '../supervisor/supervisor-client.ts';
import { writeToolbox } from '../toolbox.ts';
import { baseArguments } from './arguments.ts';
import { type LocalSupport, probeLocal } from './probe.ts';
import { seccompFilter } from './seccomp.ts';
import { type Layer, stageScript } from './stage.ts';
import { writeSystemFiles } from './system-files.ts';

/** Numbers below this are not given out again by a pid namespace once it has counted past them. */
const RESERVED_PIDS = 300;

/** Copies of the supervisor's programs that cannot be read (see `inside.ts`). */
async function writeSupervisor(folder: string): Promise<void> {
  await mkdir(folder);
  await Promise.all(
    SUPERVISOR_PROGRAMS.map(async (name) => {
      const program = join(folder, name);
      await copyFile(await realpath(`/bin/${name}`), program, constants.COPYFILE_FICLONE);
      await chmod(program, 0o111);
    }),
  );
  await writeFile(join(folder, 'supervisor.sh'), supervisorScript, { mode: 0o444 });
}

async function makeLayer(
  spec: SandboxSpec,
  support: LocalSupport,
  scratch: string,
): Promise<Layer> {
  const folders = ['stage'];
  const count = spec.base.dependencies.length;
  for (let index = 0; index <= count; index++) folders.push(`upper${index}`, `work${index}`);
  await Promise.all(folders.map((name) => mkdir(join(scratch, name))));
  if (support.overlay.works) return { kind: 'overlay', tree: spec.base.tree };
  const folder = join(scratch, 'copy');
  await mkdir(folder);
  await copyTree(spec.base.tree, folder);
  return { kind: 'copy', folder };
}

async function openSession(
  spec: SandboxSpec,
  support: LocalSupport,
  scratch: Scratch,
): Promise<SandboxSession> {
  const at = (name: string): string => join(scratch.folder, name);
  const [layer] = await Promise.all([
    makeLayer(spec, support, scratch.folder),
    writeSystemFiles(at('etc')),
    mkdir(at('toolbox')).then(() => writeToolbox(at('toolbox'), spec.toolbox)),
    writeSupervisor(at('supervisor')),
  ]);
  const filter = seccompFilter(process.arch);
  if (filter !== undefined) await writeFile(at('seccomp'), filter);
  const { processes } = spec.limits;
  const environment = sandboxEnvironment(spec.toolchain, {
    home: SANDBOX_HOME,
    tmp: '/tmp',
    user: 'user',
  });
  const script = stageScript({
    scratch: scratch.folder,
    layer,
    dependencies: spec.base.dependencies,
    places: workspacePlaces(spec.base.workspacePath),
    bubblewrap: 'bwrap',
    seccomp: filter === undefined ? undefined : at('seccomp'),
    before: baseArguments({
      features: support.features,
      etc: at('etc'),
      toolbox: at('toolbox'),
      supervisor: at('supervisor'),
      toolchain: spec.toolchain,
      workspacePath: spec.base.workspacePath,
    }),
    after: [
      // The root itself is a tmpfs: nothing is written there.
      ...['--remount-ro', '/', '--chdir', WORKSPACE],
      ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--', ...supervisorCommand(spec.limits)],
    ],
    pidMax: support.pidMax ? processes + RESERVED_PIDS + 16 : undefined,
  });
  await writeFile(at('stage.sh'), script);
  const stage = ['bash', '--noprofile', '--norc', at('stage.sh')];
  const [program = '', ...args] =
    layer.kind === 'overlay'
      ? [
          ...['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork'],
          ...['--kill-child', '--mount-proc', '--', ...stage],
        ]
      : stage;
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    // The stage needs its programs, and nothing of ours goes further than bubblewrap anyway.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  });
  const client = createSupervisorClient(attachSupervisor(child), {
    workspace: WORKSPACE,
    describe: 'local',
  });
  let closing: Promise<void> | undefined;
  const session: SandboxSession = {
    kind: 'local',
    files: createSandboxFiles(client, {
      samePlace: { from: spec.base.workspacePath, to: WORKSPACE },
    }),
    shell: client.shell,
    run: client.run,
    restartShell: client.restartShell,
    close: () => {
      closing ??= client.close().then(() => scratch.remove());
      return closing;
    },
  };
  try {
    await client.ready();
  } catch (error) {
    await client.close();
    throw error;
  }
  return session;
}

/** Linux: bubblewrap over an overlay of the snapshot, both without root. */
export function createLocalSandbox(
  options: {
    readonly stateDir?: string;
    /** `copy`: never an overlay, also where one works. */
    readonly layers?: 'auto' | 'copy';
  } = {},
): SandboxProvider {
  const stateDir = options.stateDir ?? stateFolder();
  let known: Promise<LocalSupport> | undefined;
  const support = (): Promise<LocalSupport> => {
    known ??= probeLocal(stateDir);
    return known;
  };
  return {
    kind: 'local',
    availability: async () => (await support()).availability,
    open: async (spec, signal) => {
      const probed = await support();
      const found: LocalSupport =
        options.layers === 'copy'
          ? { ...probed, overlay: { works: false, reason: 'copies were asked for' }, pidMax: false }
          : probed;
      if (!found.availability.available) {
        throw new SandboxFailure(found.availability.reason, found.availability.remedy);
      }
      return openInScratch(stateDir, signal, (scratch) => openSession(spec, found, scratch));
    },
  };
}
