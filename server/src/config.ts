import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { isLoopback } from '../../src/core/platform/loopback.ts';
import { schemaProblems } from '../../src/core/platform/schema-problems.ts';
import {
  HEARTBEAT_MS,
  HELLO_TIMEOUT_MS,
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
      /** In each such time an upload must get on by 16 kB, or to its end. */
      stallMs: z.int().positive().default(STALL_MS),
      /** How often a point of each metric series is kept. */
      seriesMs: z.int().min(100).default(15_000),
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
  const { tls, data } = config;
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
    tls: tls && 'certificate' in tls ? { certificate: at(tls.certificate), key: at(tls.key) } : tls,
  };
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
