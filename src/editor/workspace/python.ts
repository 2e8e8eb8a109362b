import type * as vscode from 'vscode';

/** The part of the Python extension's interface that is used here; every value is checked. */
interface PythonEnvironments {
  getActiveEnvironmentPath(resource?: vscode.Uri): unknown;
  resolveEnvironment(path: unknown): Promise<unknown>;
}

/**
 * The interpreter that is chosen for a folder in the Python extension, where that one is active.
 * It is not started for this: whoever works with Python has it running.
 */
export async function chosenPython(
  vs: typeof vscode,
  folder: vscode.Uri,
): Promise<string | undefined> {
  const extension = vs.extensions.getExtension('ms-python.python');
  if (extension?.isActive !== true) return undefined;
  const environments = environmentsOf(extension.exports);
  if (environments === undefined) return undefined;
  try {
    const path = environments.getActiveEnvironmentPath(folder);
    const resolved = await environments.resolveEnvironment(path);
    return fileOf(property(property(resolved, 'executable'), 'uri'));
  } catch {
    // Another extension's trouble is no reason to stop: the interpreter is looked for as always.
    return undefined;
  }
}

function environmentsOf(exports: unknown): PythonEnvironments | undefined {
  const found = property(exports, 'environments');
  const usable =
    typeof property(found, 'getActiveEnvironmentPath') === 'function' &&
    typeof property(found, 'resolveEnvironment') === 'function';
  return usable ? (found as PythonEnvironments) : undefined;
}

function fileOf(uri: unknown): string | undefined {
  const path = property(uri, 'fsPath');
  return typeof path === 'string' && path.startsWith('/') ? path : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
