import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';

export function sandboxOn({ variables, home }: TestEngine): SandboxProvider {
  return createDockerSandbox({ image: TEST_IMAGE, variables, home });
}

/** Containers and volumes that are on the engine. */
export function leftOn(engine: TestEngine): string[] {
  return `${engine.docker('ps', '-aq')}\n${engine.docker('volume', 'ls', '-q')}`
    .split('\n')
    .filter((line) => line !== '');
}
