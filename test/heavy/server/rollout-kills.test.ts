import { describeRolloutKills } from '../../integration/server/rollout-kills.ts';
import { bundledPrograms } from '../../integration/server/world.ts';

/** `PRIME_AGENT_KILLS=500 npm run test:heavy -- test/heavy/server` for a longer one. */
describeRolloutKills(
  Number(process.env.PRIME_AGENT_KILLS ?? 50),
  bundledPrograms('server', 'worker'),
);
