import type { z } from 'zod';

/** What a schema finds wrong, in one line: fields with what is wrong with each, at most so many. */
export function schemaProblems(error: z.ZodError, most = 3): string {
  return error.issues
    .slice(0, most)
    .map((issue) => {
      const field = issue.path.map(String).join('.');
      return field === '' ? issue.message : `${field}: ${issue.message}`;
    })
    .join('; ');
}
