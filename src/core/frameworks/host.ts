import { homedir } from 'node:os';

/** What tool chains are looked for with; a parameter, so that tests need not change the process. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The running program, when it is a plain Node (not an editor's). */
  readonly nodeProgram: string | undefined;
}

export function currentHost(): Host {
  const plainNode =
    process.versions.electron === undefined && /(?:^|[\\/])node[^\\/]*$/.test(process.execPath);
  return {
    env: process.env,
    home: homedir(),
    nodeProgram: plainNode ? process.execPath : undefined,
  };
}

/** Folders that every sandbox has anyway. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/;

export function isSystemPath(path: string): boolean {
  return SYSTEM.test(path);
}

/** Absolute folders of PATH, in order. */
export function pathFolders(host: Host): readonly string[] {
  return (host.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
}

/** Folders to mount: no system folders, nothing inside `workspace`, none inside another one. */
export function neededMounts(folders: readonly string[], workspace: string): readonly string[] {
  const inside = (path: string, folder: string): boolean =>
    path === folder || path.startsWith(`${folder}/`);
  const wanted = [...new Set(folders)].filter(
    (folder) =>
      folder.startsWith('/') &&
      folder !== '/' &&
      !isSystemPath(folder) &&
      !inside(folder, workspace),
  );
  return wanted.filter(
    (folder) => !wanted.some((other) => other !== folder && inside(folder, other)),
  );
}
