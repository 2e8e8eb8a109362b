import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { createWarmPool, type WarmPool } from '../sandbox/warm-pool.ts';
import type { FixOptions } from './fix.ts';
import type { PreparedProject } from './prepare.ts';

interface WarmProjects extends Pick<FixOptions, 'projects' | 'baselines'> {
  close(): Promise<void>;
}

/** Containers are made ahead, where they are what sessions are: a local sandbox opens in no time. */
export function warmProjects(options: FixOptions): WarmProjects {
  const pools = new Map<SandboxProvider, WarmPool>();
  const warm = new Map<PreparedProject, PreparedProject>();
  for (const project of options.projects) {
    const { provider } = project.setup;
    if (provider.kind !== 'docker') continue;
    const pool = pools.get(provider) ?? createWarmPool(provider);
    pools.set(provider, pool);
    warm.set(project, { ...project, setup: { ...project.setup, provider: pool.provider } });
  }
  const own = (project: PreparedProject): PreparedProject => warm.get(project) ?? project;
  return {
    projects: options.projects.map(own),
    ...(options.baselines && {
      baselines: new Map([...options.baselines].map(([project, made]) => [own(project), made])),
    }),
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
