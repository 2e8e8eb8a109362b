import type { FixEvent, FixListener } from '../../core/fix/events.ts';
import type { CliContext } from '../context.ts';
import { createStyle, plural, seconds } from './style.ts';
import { fitLine } from './terminal-text.ts';

export interface ProgressView {
  readonly listener: FixListener;
  /** Removes the live line. */
  stop(): void;
}

/**
 * Follows a job on stderr: lasting lines for what was decided, and on a terminal one live line for
 * what is going on right now.
 */
export function createProgress(context: CliContext): ProgressView {
  const { stderr } = context;
  const style = createStyle(stderr, context.env);
  const { visible, wrap } = style;
  const live = new Map<string, string>();
  /** Targets by their number, and the one whose heading was printed last. */
  const numbers = new Map<string, string>();
  let heading = '';

  const clear = (): void => {
    if (stderr.isTTY) stderr.write('\r\x1b[K');
  };
  const draw = (): void => {
    if (!stderr.isTTY) return;
    // The last column stays free: some terminals wrap when it is written.
    const text = fitLine([...live.values()].join(' | '), (stderr.columns || 80) - 1);
    stderr.write(`\r\x1b[K${style.dim(text)}`);
  };
  const line = (text: string): void => {
    // One write, so that nothing flickers.
    stderr.write(`${stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`);
    if (live.size > 0) draw();
  };

  const head = (target: string): void => {
    heading = target;
    const number = numbers.get(target) ?? '';
    const text = wrap(`${number} ${visible(target)}`, '  ');
    line(`\n${style.bold(number)}${text.slice(number.length)}`);
  };

  const attemptEnd = (event: Extract<FixEvent, { kind: 'attempt-end' }>): void => {
    live.delete(event.attemptId);
    // Several targets are worked on at a time: the line must stand below its own heading.
    if (heading !== event.target) head(event.target);
    const mark = event.row.outcome === 'solved' ? style.green('✓') : style.red('✗');
    const outcome = event.row.outcome.replaceAll('_', ' ');
    const used = `${plural(event.turns, 'turn')}, ${seconds(event.durationMs)}`;
    const reason = event.row.outcome === 'solved' ? '' : `: ${visible(event.row.reason)}`;
    // The mark comes afterwards: colours have no width.
    const text = wrap(`  * attempt ${event.number}: ${outcome} (${used})${reason}`, '    ');
    line(text.replace('*', mark));
  };

  const label = ({ target, number }: { target: string; number: number }): string =>
    numbers.size > 1 ? `${numbers.get(target) ?? ''} attempt ${number}` : `attempt ${number}`;

  const listener = (event: FixEvent): void => {
    switch (event.kind) {
      case 'progress':
        line(style.dim(wrap(`${visible(event.text)} …`, '  ')));
        break;
      case 'warning':
        line(wrap(`! ${visible(event.text)}`, '  ').replace('!', style.yellow('!')));
        if (event.remedy) line(wrap(`  ${visible(event.remedy)}`, '  '));
        break;
      case 'failing':
        line(`${plural(event.tests.length, 'failing test')} to work on.`);
        break;
      case 'target':
        numbers.set(event.target, `[${event.index + 1}/${event.of}]`);
        head(event.target);
        break;
      case 'attempt':
        if (event.event.kind !== 'turn' && event.event.kind !== 'call') break;
        live.set(event.attemptId, `${label(event)}, ${activity(event.event)}`);
        draw();
        break;
      case 'grading':
        live.set(event.attemptId, `${label(event)}, grading its patch`);
        draw();
        break;
      case 'attempt-dropped':
        live.delete(event.attemptId);
        draw();
        break;
      case 'attempt-end':
        attemptEnd(event);
        break;
      case 'verifying':
        live.clear();
        if (event.targets.length > 1) line(style.dim('\nVerifying all patches together …'));
        break;
    }
  };
  return { listener, stop: clear };
}

function activity(event: Extract<FixEvent, { kind: 'attempt' }>['event']): string {
  if (event.kind !== 'call') return `turn ${event.index + 1}`;
  const { name, arguments: args } = event.call;
  const what = [args.command, args.path, args.search_term]
    .filter((part) => typeof part === 'string')
    .join(' ');
  return `turn ${event.index + 1}: ${name} ${what}`;
}
