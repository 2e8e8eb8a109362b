export function nativeSqlite(options: {
  readonly folder: string;
  readonly cache: string;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}): Promise<{ readonly file: string } | { readonly problem: string }>;
