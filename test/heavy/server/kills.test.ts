import { describeKills } from '../../integration/server/kills.ts';
import { bundledPrograms } from '../../integration/server/world.ts';

/** `PRIME_AGENT_KILLS=500 npm run test:heavy -- test/heavy/server` for a longer one. */
describeKills(Number(process.env.PRIME_AGENT_KILLS ?? 50), bundledPrograms('server', 'client'));
