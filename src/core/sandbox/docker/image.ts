import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type Docker from 'dockerode';
import type { TarEntry } from '../../snapshot/tar.ts';
import { writeTar } from '../../snapshot/tar.ts';
import {
  groupFile,
  passwdFile,
  SANDBOX_HOME,
  SUPERVISOR_FOLDER,
  SUPERVISOR_PROGRAMS,
  SUPERVISOR_STATE,
} from '../inside.ts';
import { SandboxFailure, TOOLBOX, WORKSPACE } from '../sandbox.ts';
import supervisorScript from '../supervisor/supervisor.sh';
import { readContainerFile } from './archive.ts';
import type { Engine } from './engine.ts';
import { LABEL } from './labels.ts';
import { statusOf } from './problems.ts';
import { removeContainer } from './reap.ts';

/** Part of the hash: raised when what is added below changes. */
const FORM = 1;
const REPOSITORY = 'prime-agent/sandbox';

export interface PreparedImage {
  /** Its id, to make containers of. */
  readonly id: string;
  /** Of the image's environment; undefined: it has none. */
  readonly path: string | undefined;
}

/**
 * The image with what every session needs: the supervisor with its unreadable programs, the toolbox,
 * users, and the folders of the workspace, with their owners. It is made once for an image, a toolbox
 * and a user, without starting anything (files are copied out of a container and into it), and found
 * again by its name. Rejects with `SandboxFailure` where the image is missing or unfit.
 *
 * @param id uid and gid of commands
 */
export async function prepareImage(
  { docker, address }: Engine,
  image: string,
  toolbox: Readonly<Record<string, string>>,
  id: number,
): Promise<PreparedImage> {
  if (!IMAGE_NAME.test(image) || image.includes('..')) throw noImageName(image);
  const base = await inspectImage(docker, image, address);
  const path = base.Config?.Env?.find((line) => line.startsWith('PATH='))?.slice('PATH='.length);
  const content = JSON.stringify([FORM, base.Id, supervisorScript, toolbox, id]);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 32);
  const name = `${REPOSITORY}:${hash}`;
  const known = await docker
    .getImage(name)
    .inspect()
    .catch((error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      throw error;
    });
  if (known !== undefined) return { id: known.Id, path };
  const container = await docker.createContainer({
    Image: base.Id,
    // Never started; but an image without a command needs one to be created.
    Entrypoint: ['/bin/bash'],
    Labels: { [LABEL]: 'image' },
    HostConfig: { NetworkMode: 'none' },
  });
  try {
    const entries = [
      ...(await supervisorFiles(container, image)),
      ...toolboxFiles(toolbox),
      ...folders(id),
    ];
    await container.putArchive(writeTar(entries, 0), { path: '/' });
    const made = (await container.commit({
      _query: { container: container.id, repo: REPOSITORY, tag: hash, pause: false },
      // Podman refuses an empty one.
      _body: { Labels: { [LABEL]: 'image' } },
    })) as unknown as { readonly Id: string };
    return { id: made.Id, path };
  } finally {
    await removeContainer(docker, container.id).catch(() => {});
  }
}

/** Becomes a part of a URL. */
const IMAGE_NAME = /^[A-Za-z0-9][\w./:@-]*$/;

function noImageName(image: string): SandboxFailure {
  return new SandboxFailure(
    `${image} is not the name of an image.`,
    'Write it as name:tag, name@sha256:digest, or as the id of an image.',
  );
}

async function inspectImage(
  docker: Docker,
  image: string,
  address: string,
): Promise<Docker.ImageInspectInfo> {
  try {
    const found = await docker.getImage(image).inspect();
    if (found.Os !== '' && found.Os !== 'linux') {
      throw new SandboxFailure(
        `The image ${image} is for ${found.Os}.`,
        'Choose an image for Linux.',
      );
    }
    return found;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) {
      throw new SandboxFailure(
        `The image ${image} is not on the container engine at ${address}.`,
        `Get it with \`docker pull ${image}\`, or choose one of \`docker images\` with \`--docker-image NAME\`.`,
      );
    }
    if (status === 400) throw noImageName(image);
    throw error;
  }
}

async function supervisorFiles(container: Docker.Container, image: string): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  const at = (name: string): string => `${SUPERVISOR_FOLDER}/${name}`.slice(1);
  for (const name of SUPERVISOR_PROGRAMS) {
    const found =
      (await readContainerFile(container, `/bin/${name}`, (error) => statusOf(error) === 404)) ??
      (await readContainerFile(container, `/usr/bin/${name}`, (error) => statusOf(error) === 404));
    if (found === undefined || posix.basename(found.path) === 'busybox') {
      throw new SandboxFailure(
        found === undefined
          ? `The image ${image} has no ${name}.`
          : `The image ${image} has busybox in place of GNU's ${name}.`,
        'The sandbox needs bash and GNU coreutils in the image: choose a Debian, Ubuntu or Fedora based one, or install them (Alpine: `apk add bash coreutils`).',
      );
    }
    entries.push({ path: at(name), kind: 'file', mode: 0o111, content: found.content });
  }
  const script = Buffer.from(supervisorScript);
  entries.push({ path: at('supervisor.sh'), kind: 'file', mode: 0o444, content: script });
  return entries;
}

function toolboxFiles(toolbox: Readonly<Record<string, string>>): TarEntry[] {
  return Object.entries(toolbox).map(([name, text]) => ({
    path: Buffer.from(posix.join(TOOLBOX, name)).toString('latin1').slice(1),
    kind: 'file',
    mode: 0o755,
    content: Buffer.from(text),
  }));
}

/** Folders with their owners: volumes and temporary file systems that are mounted there take them over. */
function folders(id: number): TarEntry[] {
  const folder = (path: string, mode: number, owner: number): TarEntry => ({
    path: path.slice(1),
    kind: 'folder',
    mode,
    owner,
    content: Buffer.alloc(0),
  });
  const file = (path: string, text: string): TarEntry => ({
    path: path.slice(1),
    kind: 'file',
    mode: 0o644,
    content: Buffer.from(text),
  });
  return [
    folder(WORKSPACE, 0o755, id),
    folder(SANDBOX_HOME, 0o755, id),
    folder(SUPERVISOR_STATE, 0o700, id),
    folder(TOOLBOX, 0o755, 0),
    folder('/tmp', 0o1777, 0),
    folder('/var/tmp', 0o1777, 0),
    file('/etc/passwd', passwdFile(id)),
    file('/etc/group', groupFile(id)),
  ];
}
