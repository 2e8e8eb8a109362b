/** How much is done at the same time on a machine, where the configuration does not say it. */
export function parallelJobs(
  machine: { readonly cores: number; readonly memoryBytes: number },
  given: { readonly parallel?: number | undefined; readonly memoryBytesPerJob: number },
): number {
  const byMemory = Math.floor(machine.memoryBytes / 2 / given.memoryBytesPerJob);
  const byCores = given.parallel ?? Math.floor(machine.cores / 2);
  return Math.max(1, Math.min(byCores, byMemory));
}

/** One job may always run; another only while there is memory for it. */
export function mayStartAnother(
  running: number,
  freeBytes: number,
  memoryBytesPerJob: number,
): boolean {
  return running === 0 || freeBytes >= memoryBytesPerJob;
}
