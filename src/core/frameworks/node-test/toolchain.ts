import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import semver from 'semver';
import { runProgram } from '../../platform/run-program.ts';
import type { ToolchainResult, WorkspaceFiles } from '../framework.ts';
import { currentHost, type Host, neededMounts, pathFolders } from '../host.ts';
import { withOuter } from '../workspace-files.ts';

/** The first line with the reporters that we need. */
const OLDEST = '20.0.0';
const PROBE_TIMEOUT_MS = 10_000;

interface Candidate {
  readonly program: string;
  readonly version: string;
  readonly from: string;
}

interface Wish {
  /** A semver range. */
  readonly range: string;
  /** `.nvmrc: 20`. */
  readonly source: string;
}

/** The Node that the project asks for, else the one on PATH, else the one that runs us. */
export async function findNode(
  workspace: WorkspaceFiles,
  host: Host = currentHost(),
): Promise<ToolchainResult> {
  let wish: Wish | undefined;
  for (const place of withOuter(workspace)) wish ??= await wishedVersion(place);
  const candidates = [
    ...(await onPath(host)),
    ...(await installed(host)),
    ...(await ownNode(host)),
  ];
  const usable = candidates.filter(({ version }) => semver.gte(version, OLDEST));
  const fitting = wish && usable.filter(({ version }) => semver.satisfies(version, wish.range));
  // On PATH first: that is what the user's own `npm test` runs.
  const chosen = fitting?.[0] ?? usable[0];
  if (!chosen) {
    const found = candidates[0];
    return {
      kind: 'missing',
      reason: found
        ? `Node ${found.version} (${found.program}) is too old to run node:test with a reporter.`
        : 'No Node was found on PATH or in the usual folders (nvm, fnm, volta, asdf, mise, nodenv).',
      remedy: `Install Node 20 or newer${wish ? ` (the project asks for ${wish.source})` : ''}, for example from nodejs.org or with nvm install 20.`,
    };
  }
  const unmet =
    wish && !fitting?.length ? `; the project asks for ${wish.source}, which was not found` : '';
  const program = await realpath(chosen.program);
  const bin = dirname(program);
  return {
    kind: 'found',
    program,
    detail: `Node ${chosen.version} ${chosen.from}${unmet}`,
    toolchain: {
      path: [bin],
      mounts: neededMounts([bin.endsWith('/bin') ? dirname(bin) : bin], workspace.root),
      env: {},
    },
  };
}

async function wishedVersion(workspace: WorkspaceFiles): Promise<Wish | undefined> {
  for (const file of ['.nvmrc', '.node-version']) {
    const text = (await workspace.readText(file))?.split('\n')[0]?.trim();
    if (!text) continue;
    const range = semver.validRange(text.replace(/^node[-@]?/, ''));
    if (range !== null) return { range, source: `${file}: ${text}` };
  }
  const tools = await workspace.readText('.tool-versions');
  const pinned = tools && /^node(?:js)?\s+(\S+)/m.exec(tools)?.[1];
  if (pinned && semver.validRange(pinned) !== null)
    return { range: pinned, source: `.tool-versions: ${pinned}` };
  const manifest = await readManifest(workspace);
  for (const [key, value] of [
    ['volta.node', manifest?.volta?.node],
    ['engines.node', manifest?.engines?.node],
  ]) {
    if (typeof value === 'string' && semver.validRange(value) !== null) {
      return { range: value, source: `package.json ${key}: ${value}` };
    }
  }
  return undefined;
}

interface Manifest {
  readonly volta?: { readonly node?: unknown };
  readonly engines?: { readonly node?: unknown };
}

async function readManifest(workspace: WorkspaceFiles): Promise<Manifest | undefined> {
  const text = await workspace.readText('package.json');
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks each `node` on PATH for itself: a shim answers with the real program. */
async function onPath(host: Host): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  for (const folder of pathFolders(host)) {
    const candidate = await probe(join(folder, 'node'), 'on PATH', host);
    if (candidate && !found.some(({ program }) => program === candidate.program))
      found.push(candidate);
  }
  return found;
}

async function ownNode(host: Host): Promise<readonly Candidate[]> {
  if (host.nodeProgram === undefined) return [];
  const candidate = await probe(host.nodeProgram, 'that runs Prime Agent', host);
  return candidate ? [candidate] : [];
}

async function probe(program: string, from: string, host: Host): Promise<Candidate | undefined> {
  const result = await runProgram(
    program,
    ['-p', 'process.execPath + "\\n" + process.versions.node'],
    {
      timeoutMs: PROBE_TIMEOUT_MS,
      env: { PATH: host.env.PATH, HOME: host.home },
    },
  );
  const [path, version] = result.stdout.trim().split('\n');
  if (result.code !== 0 || !path || !semver.valid(version ?? '')) return undefined;
  return { program: path, version: version ?? '', from };
}

/** Version managers keep one folder per version; nothing is started to read them. */
async function installed(host: Host): Promise<readonly Candidate[]> {
  const { env, home } = host;
  const data = env.XDG_DATA_HOME ?? join(home, '.local/share');
  const places: readonly (readonly [string, string, string])[] = [
    [join(env.NVM_DIR ?? join(home, '.nvm'), 'versions/node'), 'bin/node', 'of nvm'],
    [join(env.FNM_DIR ?? join(data, 'fnm'), 'node-versions'), 'installation/bin/node', 'of fnm'],
    [join(home, '.fnm/node-versions'), 'installation/bin/node', 'of fnm'],
    [join(env.VOLTA_HOME ?? join(home, '.volta'), 'tools/image/node'), 'bin/node', 'of volta'],
    [join(env.ASDF_DATA_DIR ?? join(home, '.asdf'), 'installs/nodejs'), 'bin/node', 'of asdf'],
    [join(env.MISE_DATA_DIR ?? join(data, 'mise'), 'installs/node'), 'bin/node', 'of mise'],
    [join(home, '.nodenv/versions'), 'bin/node', 'of nodenv'],
    ['/usr/local/n/versions/node', 'bin/node', 'of n'],
  ];
  const found: Candidate[] = [];
  for (const [folder, program, from] of places) {
    const names = await readdir(folder).catch(() => []);
    const versions = names.flatMap((name) => {
      const version = semver.valid(name.replace(/^v/, ''));
      return version === null ? [] : [{ name, version }];
    });
    versions.sort((a, b) => semver.rcompare(a.version, b.version));
    for (const { name, version } of versions) {
      const path = join(folder, name, program);
      if (await realpath(path).catch(() => undefined)) found.push({ program: path, version, from });
    }
  }
  return found;
}
