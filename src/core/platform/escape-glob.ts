/** For `find -path`, `du --exclude` and their like: a path that means itself. */
export function escapeGlob(path: string): string {
  return path.replace(/[*?[\]\\]/g, '\\$&');
}
