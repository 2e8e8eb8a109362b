import pc from 'picocolors';
import { escapeControls } from '../../core/platform/escape-controls.ts';
import type { CliContext } from '../context.ts';
import { wrapLine } from './terminal-text.ts';

/** Colours only on a terminal, and never with NO_COLOR; the words alone must carry the meaning. */
export function createStyle(stream: CliContext['stdout'], env: CliContext['env']) {
  const wanted =
    (stream.isTTY === true || Boolean(env.FORCE_COLOR)) && !env.NO_COLOR && env.TERM !== 'dumb';
  return {
    ...pc.createColors(wanted),
    /** For text that comes from files or models; only a terminal can be harmed by it. */
    visible: (text: string): string => (stream.isTTY ? escapeControls(text) : text),
    /** Breaks a plain line between words; later lines start with `indent`. Only for a terminal. */
    wrap: (text: string, indent: string): string =>
      stream.isTTY ? wrapLine(text, stream.columns || 80, indent) : text,
  };
}

export type Style = ReturnType<typeof createStyle>;

export function seconds(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
