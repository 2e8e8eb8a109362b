import type { AttemptEvent } from '../../core/agent/events.ts';
import type { ToolCall } from '../../core/agent/messages.ts';
import { escapeControls } from '../../core/platform/escape-controls.ts';

/** Colours of the terminal's own theme; the words alone carry the meaning. */
const BOLD = '\x1b[1m';
const DIM = '\x1b[2m';
const RED = '\x1b[31m';
const GREEN = '\x1b[32m';
const CYAN = '\x1b[36m';
const RESET = '\x1b[0m';

/**
 * One event of an attempt as text for a terminal: lines end with \r\n, and nothing that a model or a
 * command wrote can move the cursor or set colours.
 */
export function renderEvent(event: AttemptEvent): string {
  switch (event.kind) {
    case 'turn':
      return `\r\n${BOLD}── ${event.index + 1} ──${RESET}\r\n`;
    case 'text':
      return safe(event.text);
    case 'call':
      return `\r\n${renderCall(event.call)}`;
    case 'output':
      return safe(event.text);
    case 'observation':
      // A command's output was shown as it came.
      if (event.call.name === 'bash') return event.ok ? '' : `${RED}✗${RESET}\r\n`;
      return `${event.ok ? DIM : RED}${withEnd(safe(event.text))}${RESET}`;
  }
}

function renderCall({ name, arguments: given }: ToolCall): string {
  const text = (key: string): string | undefined => {
    const value = given[key];
    return typeof value === 'string' ? value : undefined;
  };
  if (name === 'bash') {
    return `${CYAN}$ ${safe(text('command') ?? (given.restart === true ? 'restart' : ''))}${RESET}\r\n`;
  }
  if (name === 'str_replace_editor') {
    const head = `${CYAN}${safe(text('command') ?? 'edit')} ${safe(text('path') ?? '')}${RESET}\r\n`;
    const added = text('new_str') ?? text('insert_text') ?? text('file_text');
    return head + lines('-', RED, text('old_str')) + lines('+', GREEN, added);
  }
  const rest = Object.keys(given).length > 0 ? ` ${safe(JSON.stringify(given))}` : '';
  return `${CYAN}${safe(name)}${rest}${RESET}\r\n`;
}

function lines(sign: string, colour: string, text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const signed = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign} ${line}`);
  return `${colour}${safe(signed.join('\n'))}${RESET}\r\n`;
}

function safe(text: string): string {
  return escapeControls(text).replaceAll('\n', '\r\n');
}

function withEnd(text: string): string {
  return text.endsWith('\r\n') || text === '' ? text : `${text}\r\n`;
}
