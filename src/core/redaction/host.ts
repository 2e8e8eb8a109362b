import { realpath } from 'node:fs/promises';
import { homedir, hostname, userInfo } from 'node:os';
import type { Redactor } from '../agent/redactor.ts';
import { createRedactor } from './redactor.ts';
import { workspaceSecrets } from './workspace-secrets.ts';

export interface HostRedactorOptions {
  /** Absolute path of the user's workspace, as the user names it. */
  readonly workspacePath: string;
  /** Files of the workspace, relative: their names tell which may hold secrets. */
  readonly files: readonly string[];
  /** The host's, for example `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The three below are this machine's where they are not given. */
  readonly home?: string;
  readonly userName?: string;
  readonly hostName?: string;
}

/**
 * The redactor for a workspace on this machine: with everything that the machine and the workspace's
 * own files say is secret, and with paths through symbolic links under both of their names.
 */
export async function hostRedactor(options: HostRedactorOptions): Promise<Redactor> {
  const { workspacePath, files, environment } = options;
  const home = options.home ?? homedir();
  return createRedactor({
    workspacePath,
    workspaceAliases: await resolved(workspacePath),
    home,
    homeAliases: await resolved(home),
    userName: options.userName ?? nameOfUser(environment),
    hostName: options.hostName ?? hostname(),
    environment,
    extraSecrets: await workspaceSecrets(workspacePath, files),
  });
}

async function resolved(path: string): Promise<readonly string[]> {
  try {
    return [await realpath(path)];
  } catch {
    return [];
  }
}

/** A container may run under a user id that has no name. */
function nameOfUser(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return environment.USER;
  }
}
