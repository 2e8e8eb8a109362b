import type { Meta } from '../store/meta.ts';
import type { Power } from './battery.ts';

/** Whether the server may work now. `stop`: what runs is to end as well. */
export type Rest =
  | { readonly kind: 'work' }
  | {
      readonly kind: 'rest';
      readonly why: 'paused' | 'battery' | 'user';
      readonly text: string;
      readonly stop: boolean;
    };

export interface RestSigns {
  readonly state: ReturnType<Meta['state']>;
  readonly power: Power;
  /** Attempts of the user of this machine are going on. */
  readonly userBusy: boolean;
}

export interface RestOptions {
  readonly onBattery: 'pause' | 'work';
  readonly yieldToUser: boolean;
}

/** A request of an admin comes first, then the battery, then the user's own attempts. */
export function restOf(signs: RestSigns, { onBattery, yieldToUser }: RestOptions): Rest {
  const { state, power, userBusy } = signs;
  if (state.state === 'paused') {
    const text = state.reason === undefined ? 'paused' : `paused: ${state.reason}`;
    return { kind: 'rest', why: 'paused', text, stop: true };
  }
  if (power === 'battery' && onBattery === 'pause') {
    return { kind: 'rest', why: 'battery', text: 'the machine runs on its battery', stop: true };
  }
  if (userBusy && yieldToUser) {
    const text = "the user's own attempts come first";
    return { kind: 'rest', why: 'user', text, stop: false };
  }
  return { kind: 'work' };
}
