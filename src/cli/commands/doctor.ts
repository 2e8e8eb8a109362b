import { resolve } from 'node:path';
import { examine } from '../../core/doctor/examine.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { createStyle } from '../render/style.ts';

/** Below the words, beside the marks. */
const INDENT = ' '.repeat(9);

/** What is there, what is missing and how to get it. Exit code 3 when something needed is missing. */
export async function doctorCommand(
  path: string,
  options: { json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const findings = await examine(resolve(context.cwd, path), {
    environment: context.env,
    signal: context.signal,
  });
  if (options.json) context.stdout.write(`${JSON.stringify({ findings }, null, 2)}\n`);
  else {
    const style = createStyle(context.stdout, context.env);
    const marks = {
      ok: style.green('ok      '),
      missing: style.red('missing '),
      note: style.dim('note    '),
    };
    for (const { what, state, detail, remedy } of findings) {
      const text = style.wrap(`${state.padEnd(8)} ${style.visible(`${what}: ${detail}`)}`, INDENT);
      context.stdout.write(`${marks[state]}${text.slice(8)}\n`);
      if (remedy) context.stdout.write(`${style.wrap(`${INDENT}→ ${remedy}`, INDENT)}\n`);
    }
  }
  return findings.some((finding) => finding.state === 'missing') ? EXIT.environment : EXIT.ok;
}
