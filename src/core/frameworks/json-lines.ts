import type { z } from 'zod';

/** JSON objects of a text, one a line; lines that are something else (cut, garbled, foreign) are left out. */
export function* readJsonLines<S extends z.ZodType>(
  text: string,
  schema: S,
): Generator<z.output<S>> {
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      continue;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) yield parsed.data;
  }
}
