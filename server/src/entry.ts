import { readTaskSet } from '../../src/core/tasks/task-set.ts';
import { type ConfigOverrides, loadConfig } from './config.ts';
import { type ExportReport, exportData } from './data/export.ts';
import { type DataItem, type DataKind, type DataUsage, dataUsage, listData } from './data/list.ts';
import { openData, type ServerData } from './data/open.ts';
import { type Doomed, findData, removeData } from './data/remove.ts';
import { defaultDataFolder, openFolders } from './folders.ts';
import { type RunningServer, serve } from './serve.ts';
import { createClaims } from './store/claims.ts';
import { type Db, openDatabase } from './store/database.ts';
import { prepareSqlite } from './store/sqlite.ts';
import {
  createTokenStore,
  isContributorName,
  type TokenInfo,
  type TokenStore,
} from './store/tokens.ts';
import { type AddedTasks, addTasks } from './tasks/add.ts';

/**
 * What the command line loads for `serve`, `token`, `tasks add` and `data`, and for nothing else: a bundle of its own, since
 * it brings an HTTP server and a database in native code.
 */

export interface Place {
  /** Absolute path of a configuration file. */
  readonly configFile: string | undefined;
  readonly overrides: ConfigOverrides;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Before anything else of this file. Rejects with an error whose message is for people. */
export const prepare = prepareSqlite;

/** Rejects with an error whose message is for people. */
export async function startServer(
  place: Place,
  { version, write }: { readonly version: string; readonly write: (line: string) => void },
): Promise<RunningServer> {
  const { config, data } = locate(place);
  return serve({ config, data, version, write, env: place.env });
}

/** Throws where the name or the role cannot be. The token is shown once. */
export function createToken(
  place: Place,
  name: string,
  role: TokenInfo['role'],
): TokenInfo & { readonly token: string } {
  if (!isContributorName(name)) {
    throw new Error(`'${name}' cannot be a name: letters, digits and '_.@-', 64 at most`);
  }
  return withTokens(place, (tokens) => tokens.create(name, role));
}

export interface ListedToken extends TokenInfo {
  /** Claims of its contributor that did not hold. */
  readonly brokenClaims: number;
}

export function listTokens(place: Place): readonly ListedToken[] {
  return withDatabase(place, (db) => {
    const broken = createClaims(db).broken();
    return createTokenStore(db)
      .list()
      .map((token) => ({ ...token, brokenClaims: broken[token.name] ?? 0 }));
  });
}

/** Rejects with `TaskFileError`. A server that runs tries them; one that does not, when it is started. */
export async function addTaskFile(place: Place, file: string): Promise<AddedTasks> {
  const set = await readTaskSet(file);
  const { trees, incoming, database } = openFolders(locate(place).data);
  const db = openDatabase(database);
  try {
    return await addTasks(set, { db, trees, incoming });
  } finally {
    db.close();
  }
}

/** False where there is no such token that is good still. Connections that are open stay so. */
export function revokeToken(place: Place, id: string): boolean {
  return withTokens(place, (tokens) => tokens.revoke(id));
}

function locate({ configFile, overrides, env }: Place): {
  readonly config: ReturnType<typeof loadConfig>;
  readonly data: string;
} {
  const config = loadConfig(configFile, overrides);
  return { config, data: config.data ?? defaultDataFolder(env) };
}

export function usageOf(place: Place): Promise<readonly DataUsage[]> {
  const { retention } = locate(place).config;
  return withData(place, (data) => dataUsage(data, retention));
}

export function itemsOf(place: Place, kind: DataKind, limit: number): Promise<readonly DataItem[]> {
  return withData(place, (data) => listData(data, kind, limit));
}

/**
 * Removes contents once `confirm` has seen what they are.
 *
 * @returns undefined where it said no; else whether the files are gone already
 */
export function removeItems(
  place: Place,
  kind: DataKind,
  ids: readonly string[],
  confirm: (items: readonly Doomed[]) => Promise<boolean>,
): Promise<{ readonly filesGone: boolean } | undefined> {
  return withData(place, async (data) => {
    const items = findData(data, kind, ids);
    if (!(await confirm(items))) return undefined;
    return { filesGone: await removeData(data, items) };
  });
}

export function exportTo(place: Place, folder: string): Promise<ExportReport> {
  return withData(place, (data) => exportData(data, folder));
}

/** Works beside a server that is running. Rejects with `DataError` where there is no data. */
async function withData<Result>(
  place: Place,
  work: (data: ServerData) => Result | Promise<Result>,
): Promise<Result> {
  const data = openData(locate(place).data);
  try {
    return await work(data);
  } finally {
    data.close();
  }
}

function withTokens<Result>(place: Place, work: (tokens: TokenStore) => Result): Result {
  return withDatabase(place, (db) => work(createTokenStore(db)));
}

/** Works beside a server that is running. */
function withDatabase<Result>(place: Place, work: (db: Db) => Result): Result {
  const { data } = locate(place);
  const db = openDatabase(openFolders(data).database);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
