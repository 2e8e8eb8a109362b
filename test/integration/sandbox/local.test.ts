import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { describeSandbox } from './conformance.ts';

describeSandbox('local', (stateDir) => createLocalSandbox({ stateDir }), { isolated: true });
