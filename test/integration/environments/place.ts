import { beforeAll } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { connectEngine, type Engine } from '../../../src/core/sandbox/docker/engine.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { suiteFolder } from '../../support/temp.ts';
import type { Place } from './describe-build.ts';

/** An engine of the tests as environments use it; its parts are there once the tests begin. */
export function openPlace(daemon: TestEngine): Place {
  const { variables, home } = daemon;
  const state = suiteFolder();
  let engine: Engine;
  let provider: SandboxProvider;
  beforeAll(async () => {
    const connected = await connectEngine(variables, home);
    if (connected.kind === 'problem') throw new Error(connected.reason);
    engine = connected.engine;
    provider = createDockerSandbox({ image: TEST_IMAGE, variables, home });
  });
  return { daemon, engine: () => engine, provider: () => provider, state };
}
