import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { describeSandbox } from './conformance.ts';

describeSandbox('none', (stateDir) => createNoneSandbox({ stateDir }), { isolated: false });
