const JVM = /\.(?:java|kt|groovy|scala)::/;
const PARAMETERS = /\.(?:py|java|kt|groovy|scala)::/;

/**
 * Does the test `id` belong to the choice `wanted`? A choice is a test's id, a suite or class, a
 * parametrised test without its parameters, a file or a folder.
 */
export function isChosen(id: string, wanted: string): boolean {
  if (id === wanted) return true;
  if (!id.startsWith(wanted)) return false;
  const rest = id.slice(wanted.length);
  if (rest.startsWith('::') || rest.startsWith(' > ')) return true;
  // Node's names may hold brackets anywhere; pytest and JUnit put parameters directly behind a name.
  if (rest.startsWith('[')) return rest.endsWith(']') && PARAMETERS.test(wanted);
  if (rest.startsWith('(')) return JVM.test(wanted);
  // Go joins the names of subtests by slashes.
  return rest.startsWith('/') && (!wanted.includes('::') || wanted.includes('_test.go::'));
}

/** An empty choice means all. */
export function isAnyChosen(id: string, chosen: readonly string[]): boolean {
  return chosen.length === 0 || chosen.some((wanted) => isChosen(id, wanted));
}

/** Ids relative to the workspace → relative to the project's folder. */
export function insideProject(ids: readonly string[], projectPath: string): readonly string[] {
  if (projectPath === '') return ids;
  return ids.map((id) =>
    id.startsWith(`${projectPath}/`) ? id.slice(projectPath.length + 1) : id,
  );
}

/** The file of a test id. */
export function fileOf(id: string): string {
  const at = id.indexOf('::');
  return at < 0 ? id : id.slice(0, at);
}
