import type { WorkspaceFiles } from '../framework.ts';

/** What package.json says; only what is of the expected type. */
export interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  /** Names of dependencies of all kinds. */
  readonly dependencies: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
}

/** undefined: there is none, or it is not JSON. */
export async function readManifest(workspace: WorkspaceFiles): Promise<Manifest | undefined> {
  const text = await workspace.readText('package.json');
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    const manifest = recordOf(value);
    const scripts = Object.entries(recordOf(manifest.scripts)).flatMap(([name, script]) =>
      typeof script === 'string' ? [[name, script] as const] : [],
    );
    const groups = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
    return {
      scripts: Object.fromEntries(scripts),
      dependencies: new Set(groups.flatMap((group) => Object.keys(recordOf(manifest[group])))),
      keys: new Set(Object.keys(manifest)),
    };
  } catch {
    return undefined;
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** `scripts.test` with the scripts that it runs by name put in. */
export function testScript(manifest: Manifest | undefined, name = 'test'): string | undefined {
  return manifest && expand(manifest.scripts, name, 0);
}

function expand(
  scripts: Readonly<Record<string, string>>,
  name: string,
  depth: number,
): string | undefined {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  if (script === undefined || depth > 4) return script;
  return script.replace(
    /\b(?:npm|pnpm|yarn)\s+(?:run\s+)?(?:-\S+\s+)*([\w:.-]+)/g,
    (found, inner: string) => expand(scripts, inner, depth + 1) ?? found,
  );
}
