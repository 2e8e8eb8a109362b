import type { BuildOptions } from 'esbuild';

export const bundleOptions: BuildOptions;
export const workerEntryPoints: Readonly<Record<string, string>>;
export const extensionOptions: BuildOptions;
