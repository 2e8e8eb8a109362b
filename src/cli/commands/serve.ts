import { resolve } from 'node:path';
import { AGENT_VERSION } from '../../core/fix/version.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { loadServer, type PlaceOptions } from './server-bundle.ts';

/** Runs until it is interrupted; then it finishes what is being stored. */
export async function serveCommand(
  options: PlaceOptions & { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { startServer } = await loadServer(context);
  const server = await startServer(placeOf(options, context), {
    version: AGENT_VERSION,
    write: (line) => context.stderr.write(line),
  });
  const { url, fingerprint } = server;
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ url, fingerprint, pid: process.pid })}\n`);
  } else {
    context.stdout.write(`Listening at ${url}\n`);
    if (fingerprint) context.stdout.write(`Fingerprint of the certificate: ${fingerprint}\n`);
    context.stdout.write('Stop it with Ctrl-C.\n');
  }
  await new Promise<void>((done) => {
    if (context.signal.aborted) done();
    else context.signal.addEventListener('abort', () => done(), { once: true });
  });
  await server.close();
  return EXIT.ok;
}

export function placeOf(
  { config, data, host, port }: PlaceOptions,
  { cwd, env }: CliContext,
): {
  readonly configFile: string | undefined;
  readonly overrides: {
    readonly data: string | undefined;
    readonly host: string | undefined;
    readonly port: number | undefined;
  };
  readonly env: CliContext['env'];
} {
  const at = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(cwd, path);
  return { configFile: at(config), overrides: { data: at(data), host, port }, env };
}
