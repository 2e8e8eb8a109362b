import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { isLoopback } from '../../src/core/platform/loopback.ts';
import { schemaProblems } from '../../src/core/platform/schema-problems.ts';
import {
  HEARTBEAT_MS,
  HELLO_TIMEOUT_MS,
  MAX_ARCHIVE_BYTES,
  MAX_CONTENT_BYTES,
  MAX_OPEN_UPLOADS,
  MAX_UPLOAD_BYTES,
  SILENCE_MS,
  STALL_MS,
} from '../../src/core/protocol/limits.ts';

/** The configuration file (TOML). Unknown keys are errors: what is accepted has an effect. */
const configSchema = z.strictObject({
  /** Folder for everything that is kept. */
  data: z.string().min(1).optional(),
  listen: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1'),
      /** 0: any free one. */
      port: z.int().min(0).max(65_535).default(7317),
    })
    .prefault({}),
  /** A certificate of your own, or one that the server makes and keeps. Paths are from the file's folder. */
  tls: z
    .union([
      z.strictObject({ certificate: z.string().min(1), key: z.string().min(1) }),
      z.strictObject({ selfSigned: z.literal(true) }),
    ])
    .optional(),
  limits: z
    .strictObject({
      uploadBytes: z.int().positive().max(MAX_UPLOAD_BYTES).default(MAX_UPLOAD_BYTES),
      contentBytes: z.int().positive().max(MAX_CONTENT_BYTES).default(MAX_CONTENT_BYTES),
      archiveBytes: z.int().positive().max(MAX_ARCHIVE_BYTES).default(MAX_ARCHIVE_BYTES),
      openUploads: z.int().positive().max(64).default(MAX_OPEN_UPLOADS),
      connections: z.int().positive().default(256),
      connectionsPerContributor: z.int().positive().default(16),
    })
    .prefault({}),
  /** Of each contributor, all that is stored. */
  quota: z
    .strictObject({
      trajectories: z.int().positive().default(1_000_000),
      bytes: z
        .int()
        .positive()
        .default(20 * 1024 ** 3),
    })
    .prefault({}),
  /** Of everybody together. Beyond, the oldest contents go; ids, parents, rewards and hashes stay. */
  retention: z
    .strictObject({
      /** Trajectories with content. */
      trajectories: z.int().positive().default(2_000_000),
      /** Their blobs, all together. */
      blobBytes: z
        .int()
        .positive()
        .default(200 * 1024 ** 3),
      taskArchives: z.int().positive().default(100_000),
      taskBytes: z
        .int()
        .positive()
        .default(50 * 1024 ** 3),
      /** The newest, and those that are pinned. */
      policyVersions: z.int().positive().default(50),
      everyMs: z.int().min(100).default(60_000),
    })
    .prefault({}),
  rate: z
    .strictObject({
      /** Uploads that a contributor may begin in a minute. */
      uploadsPerMinute: z.int().positive().default(3_000),
      /** Wrong tokens from one address in a minute. */
      failuresPerMinute: z.int().positive().default(10),
      /** HTTP requests and connections from one address in a minute. */
      requestsPerMinute: z.int().positive().default(600),
    })
    .prefault({}),
  timing: z
    .strictObject({
      helloMs: z.int().positive().default(HELLO_TIMEOUT_MS),
      heartbeatMs: z.int().positive().default(HEARTBEAT_MS),
      silenceMs: z.int().positive().default(SILENCE_MS),
      /** A whole request over HTTP, headers and body, and a TLS handshake, must have come within this. */
      requestMs: z.int().min(100).default(15_000),
      /** In each such time an upload must get on by 16 kB, or to its end. */
      stallMs: z.int().positive().default(STALL_MS),
      /** How often a point of each metric series is kept. */
      seriesMs: z.int().min(100).default(15_000),
      /** After a failure of the machine's own; longer each time. */
      retryMs: z.int().min(10).default(30_000),
      /** A worker that says nothing for so long is ended; beside a training it may get little of the processor. */
      workerSilenceMs: z.int().min(200).default(120_000),
    })
    .prefault({}),
  /** Where what contributors sent is run. There is no way to run it without one. */
  sandbox: z
    .strictObject({
      kind: z.enum(['auto', 'local', 'docker']).default('auto'),
      /** Docker: base image in place of the one that a task names. */
      image: z.string().min(1).optional(),
      /** Docker: network of the set-up of environments. */
      setupNetwork: z.string().min(1).default('default'),
    })
    .prefault({}),
  work: z
    .strictObject({
      /** Jobs at the same time; default: half of the cores, as far as the memory reaches. */
      parallel: z.int().positive().max(256).optional(),
      /** Processes that share them. */
      workers: z.int().positive().max(64).default(1),
      memoryMbPerJob: z.int().min(128).default(1_024),
      /** 19: whatever else the machine does comes first. */
      niceness: z.int().min(0).max(19).default(19),
      onBattery: z.enum(['pause', 'work']).default('pause'),
      /** Begin nothing while attempts of the user of this machine go on. */
      yieldToUser: z.boolean().default(true),
      /** One run of all tests of a task. */
      testTimeoutS: z.int().positive().default(120),
      /** Docker: the set-up of an environment. */
      setupMinutes: z.int().positive().default(30),
    })
    .prefault({}),
  /** Who makes the rollouts; without it there are none. A folder is from the file's own. */
  policy: z
    .strictObject({
      /** edit-search, nano, the address of an OpenAI-compatible server, or a folder. */
      use: z.string().min(1),
      model: z.string().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
    })
    .optional(),
  rollouts: z
    .strictObject({
      /** Attempts at one task by one policy. */
      groupSize: z.int().min(1).max(64).default(8),
      /** Complete groups that may wait for a learner; then no more are begun. */
      groupsAhead: z.int().positive().default(64),
      /** Of one attempt. */
      attemptMinutes: z
        .number()
        .positive()
        .max(24 * 60)
        .default(15),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    })
    .prefault({}),
});

export type ServerConfig = z.infer<typeof configSchema>;

/** The configuration cannot be used; the message says where and what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface ConfigOverrides {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly data?: string | undefined;
}

/**
 * @param file absolute path, or undefined for what is there by default
 * Throws `ConfigError`.
 */
export function loadConfig(
  file: string | undefined,
  overrides: ConfigOverrides = {},
): ServerConfig {
  const config = checkConfig(file === undefined ? {} : readToml(file), file ?? 'the configuration');
  const folder = file === undefined ? undefined : dirname(file);
  const at = (path: string): string => (folder === undefined ? path : resolve(folder, path));
  const { tls, data, policy } = config;
  const listen = {
    host: overrides.host ?? config.listen.host,
    port: overrides.port ?? config.listen.port,
  };
  if (!tls && !isLoopback(listen.host)) {
    throw new ConfigError(
      `${listen.host} can be reached from other machines, and there is no TLS: add [tls] with certificate and key, or selfSigned = true, or listen at 127.0.0.1`,
    );
  }
  return {
    ...config,
    listen,
    data: overrides.data ?? (data === undefined ? undefined : at(data)),
    ...(policy && { policy: { ...policy, use: policyAt(policy.use, at) } }),
    tls: tls && 'certificate' in tls ? { certificate: at(tls.certificate), key: at(tls.key) } : tls,
  };
}

/** Only what looks like a path is one: the others are names and addresses. */
function policyAt(use: string, at: (path: string) => string): string {
  return /^\.{0,2}\//.test(use) ? at(use) : use;
}

/** Throws `ConfigError`. */
export function checkConfig(value: unknown, where: string): ServerConfig {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${where} cannot be used: ${schemaProblems(parsed.error, 5)}`);
}

function readToml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(`${file} is not TOML: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
