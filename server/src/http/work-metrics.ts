import { Gauge, type Registry } from 'prom-client';
import type { StatusSnapshot } from '../../../src/core/protocol/server-messages.ts';

/** What the server does by itself. */
export function addWorkGauges(registry: Registry, snapshot: () => StatusSnapshot): void {
  const gauge = (
    name: string,
    help: string,
    label: string | undefined,
    values: (now: StatusSnapshot) => Readonly<Record<string, number>>,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset();
        for (const [key, value] of Object.entries(values(snapshot()))) {
          this.set(label === undefined ? {} : { [label]: key }, value);
        }
      },
    });
  };
  gauge('prime_agent_sandbox_working', '1: commands can be run', undefined, ({ sandbox }) => ({
    value: Number(sandbox.state === 'working'),
  }));
  gauge('prime_agent_jobs_running', 'Grades, admissions and attempts', undefined, ({ work }) => ({
    value: work.running,
  }));
  gauge(
    'prime_agent_claims_without_task',
    'Claims that wait for a task that is not here',
    undefined,
    ({ claims }) => ({ value: claims.withoutTask }),
  );
  gauge(
    'prime_agent_claims_broken',
    'Claims that did not hold, by contributor',
    'contributor',
    ({ claims }) =>
      Object.fromEntries(claims.flagged.map(({ contributor, count }) => [contributor, count])),
  );
  gauge(
    'prime_agent_tasks',
    'Tasks, by whether they reproduce here',
    'state',
    ({ tasks }) => tasks,
  );
  gauge('prime_agent_groups', 'Groups of rollouts', 'state', ({ rollouts }) => ({
    open: rollouts.groupsOpen,
    done: rollouts.groupsDone,
    dropped: rollouts.groupsDropped,
  }));
  gauge('prime_agent_rollouts', 'Attempts of the server', 'state', ({ rollouts }) => ({
    done: rollouts.attempts,
    invalid: rollouts.invalid,
  }));
}
