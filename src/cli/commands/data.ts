import { resolve } from 'node:path';
import type { DataItem, DataKind, DataUsage } from '../../../server/src/data/list.ts';
import { askYesNo } from '../ask.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { byteSize } from '../render/byte-size.ts';
import { createStyle, plural } from '../render/style.ts';
import { placeOf } from './serve.ts';
import { loadServer, type PlaceOptions } from './server-bundle.ts';

/** As in server/src/data/list.ts, which is a bundle of its own. */
export const DATA_KINDS = ['trajectories', 'tasks', 'policies'] as const satisfies DataKind[];

type DataOptions = PlaceOptions & { readonly json: boolean };

/** Without a kind: how much there is of each. */
export async function dataListCommand(
  kind: DataKind | undefined,
  options: DataOptions & { readonly limit: number },
  context: CliContext,
): Promise<ExitCode> {
  const { usageOf, itemsOf } = await loadServer(context);
  const place = placeOf(options, context);
  if (kind === undefined) {
    const usage = await usageOf(place);
    if (options.json) context.stdout.write(`${JSON.stringify({ usage }, null, 2)}\n`);
    else for (const each of usage) context.stdout.write(`${usageLine(each)}\n`);
    return EXIT.ok;
  }
  const items = await itemsOf(place, kind, options.limit);
  const { visible } = createStyle(context.stdout, context.env);
  if (options.json) context.stdout.write(`${JSON.stringify({ [kind]: items }, null, 2)}\n`);
  else if (items.length === 0) context.stdout.write(`There are no ${kind} yet.\n`);
  else for (const item of items) context.stdout.write(`${visible(itemLine(item))}\n`);
  return EXIT.ok;
}

export async function dataRemoveCommand(
  kind: DataKind,
  ids: readonly string[],
  options: DataOptions & { readonly yes: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { removeItems } = await loadServer(context);
  let removed: readonly string[] = [];
  const done = await removeItems(placeOf(options, context), kind, ids, async (items) => {
    removed = items.map(({ id }) => id);
    if (options.yes) return true;
    for (const { id, bytes } of items) context.stderr.write(`${id}  ${byteSize(bytes)}\n`);
    const answer = await askYesNo(
      `Remove the content of ${plural(items.length, 'entry').replace('entrys', 'entries')}? Ids, parents, rewards and hashes stay.`,
      context,
    );
    if (answer === undefined) {
      throw new Error('nobody can be asked here: say --yes to remove it. Nothing was removed.');
    }
    return answer;
  });
  if (!done) {
    context.stderr.write('Nothing was removed.\n');
    return EXIT.notSolved;
  }
  const { filesGone } = done;
  if (options.json) context.stdout.write(`${JSON.stringify({ kind, removed, filesGone })}\n`);
  else {
    for (const id of removed) context.stdout.write(`The content of ${id} is removed.\n`);
    if (!filesGone) {
      context.stdout.write('A server is running: it deletes the files with its next round.\n');
    }
  }
  return EXIT.ok;
}

export async function dataExportCommand(
  folder: string,
  options: DataOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { exportTo } = await loadServer(context);
  const report = await exportTo(placeOf(options, context), resolve(context.cwd, folder));
  const { trajectories, archives, policies, withoutContent, damaged } = report;
  if (options.json) context.stdout.write(`${JSON.stringify(report)}\n`);
  else {
    context.stdout.write(
      `${report.folder}: ${trajectories} trajectories, ${archives} task archives, ${policies} policy versions; ${withoutContent} without content\n`,
    );
  }
  for (const id of damaged) {
    context.stderr.write(`! ${id} is not what was stored: only its lineage was exported\n`);
  }
  return damaged.length === 0 ? EXIT.ok : EXIT.environment;
}

function usageLine({ kind, entries, kept, bytes, limit }: DataUsage): string {
  const most = limit.bytes === null ? '' : ` of ${byteSize(limit.bytes)}`;
  const gone = entries === kept ? '' : `, ${entries - kept} without content`;
  return `${kind.padEnd(12)}  ${kept} of ${limit.kept}  ${byteSize(bytes)}${most}${gone}`;
}

function itemLine({ id, bytes, at, removedAt, more }: DataItem): string {
  const known = Object.entries(more)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => (name === value ? name : `${name} ${value}`));
  const gone = removedAt === null ? [] : [`content removed ${removedAt.slice(0, 10)}`];
  return [id, at.slice(0, 19), byteSize(bytes), ...known, ...gone].join('  ');
}
