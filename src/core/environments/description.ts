import { z } from 'zod';

/**
 * What a task needs to run: an image, or what makes one. Written into tasks, so readers accept older
 * minor versions.
 */
export const ENVIRONMENT_VERSION = '1.0';

/** Where the set-up puts what it installs outside of the workspace; sessions see it read-only. */
export const INSTALLED = '/opt/environment';

/** Exists during the set-up alone: HOME, temporary files, caches, tools that are not kept. */
export const SCRATCH = '/setup';

const relativePath = z
  .string()
  .refine(
    (path) =>
      !path.startsWith('/') && path.split('/').every((part) => !['.', '..', '.git'].includes(part)),
    'must be a path inside of the repository',
  );

const variableName = z.string().regex(/^[A-Za-z_]\w*$/);

const baseSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('image'),
    /** Tag, digest (`name@sha256:…`) or id. The engine must have it: nothing is pulled. */
    image: z.string().min(1),
  }),
  z.strictObject({
    kind: z.literal('dockerfile'),
    dockerfile: relativePath,
    /** Folder that COPY means, `''`: the whole repository. */
    context: relativePath,
    target: z.string().optional(),
    args: z.record(variableName, z.string()),
  }),
]);

const setupStepSchema = z.strictObject({
  /** `npm`, `pip`, … or the key of devcontainer.json that the command is from. */
  tool: z.string(),
  /** Relative to the workspace. */
  folder: relativePath,
  /** For bash, as root, with a network. */
  command: z.string(),
});

export const environmentSchema = z.strictObject({
  version: z.string(),
  base: baseSchema,
  /** Paths of the tree that the set-up sees at /workspace; `all`: every file. */
  files: z.union([z.literal('all'), z.array(relativePath)]),
  setup: z.array(setupStepSchema),
  /** Absolute folders in front of the image's PATH. */
  path: z.array(z.string().startsWith('/')),
  /** Stay in the image. Never secrets. */
  variables: z.record(variableName, z.string()),
  /** For people: what was found and is not done, with the reason. */
  notes: z.array(z.string()),
});

export type EnvironmentDescription = z.output<typeof environmentSchema>;
export type EnvironmentBase = EnvironmentDescription['base'];
export type SetupStep = EnvironmentDescription['setup'][number];

/** An environment that is an image as it is. */
export function imageEnvironment(image: string): EnvironmentDescription {
  return {
    version: ENVIRONMENT_VERSION,
    base: { kind: 'image', image },
    files: [],
    setup: [],
    path: [],
    variables: {},
    notes: [],
  };
}
