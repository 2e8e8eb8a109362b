/** Of a part of the tasks, for the names of files. */
export function slugOf(part: string): string {
  return part.replace(/\W+/g, '-');
}
