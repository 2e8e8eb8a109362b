import { type Logger, pino } from 'pino';
import type { ServerConfig } from './config.ts';

/** Tokens, wherever they turn up: in messages of libraries, too. */
const TOKEN = /pa_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/g;

/** JSON lines on standard error. No line holds a token. */
export function createLog(
  level: ServerConfig['log']['level'],
  write: (line: string) => void,
): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => write(line.replace(TOKEN, 'pa_[hidden]')) },
  );
}
