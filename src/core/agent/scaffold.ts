import { createHash } from 'node:crypto';
import type { ToolSchema } from '../tools/tool.ts';

/** What a policy was trained to read and to write. */
export interface Scaffold {
  readonly prompt: Readonly<Record<string, string>>;
  readonly tools: readonly ToolSchema[];
  /** Per tool: its renderers applied to fixed inputs. */
  readonly observations: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** sha256 over a canonical form (keys sorted), hex. Stored with every trajectory and policy. */
export function scaffoldHash(scaffold: Scaffold): string {
  return createHash('sha256').update(canonical(scaffold)).digest('hex');
}

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
    return `{${entries.join(',')}}`;
  }
  return JSON.stringify(value);
}
