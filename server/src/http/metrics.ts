import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StatusSnapshot } from '../../../src/core/protocol/server-messages.ts';
import type { LiveCounters } from '../live/parts.ts';
import { addWorkGauges } from './work-metrics.ts';

export interface Metrics extends LiveCounters {
  readonly registry: Registry;
}

export function createMetrics(snapshot: () => StatusSnapshot): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'prime_agent_trajectories',
    help: 'Stored trajectories, by what became of the reward that is claimed',
    labelNames: ['claim'],
    registers,
    collect() {
      const { waiting, holds, broken, unverifiable } = snapshot().trajectories;
      for (const [claim, value] of Object.entries({ waiting, holds, broken, unverifiable })) {
        this.set({ claim }, value);
      }
    },
  });
  new Gauge({
    name: 'prime_agent_connections',
    help: 'Live connections',
    registers,
    collect() {
      this.set(snapshot().connections);
    },
  });
  addWorkGauges(registry, snapshot);
  return {
    registry,
    errors: new Counter({
      name: 'prime_agent_errors_total',
      help: 'Errors that clients were told, by code',
      labelNames: ['code'],
      registers,
    }),
    stored: new Counter({
      name: 'prime_agent_acknowledged_total',
      help: 'Trajectories that were acknowledged',
      labelNames: ['duplicate'],
      registers,
    }),
    bytes: new Counter({
      name: 'prime_agent_received_bytes_total',
      help: 'Bytes of uploads',
      registers,
    }),
    acknowledged: new Histogram({
      name: 'prime_agent_acknowledge_seconds',
      help: 'From the last byte of an upload to its acknowledgement',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
  };
}
