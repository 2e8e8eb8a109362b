import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPower } from '../../../server/src/work/battery.ts';
import { mayStartAnother, parallelJobs } from '../../../server/src/work/capacity.ts';
import { type RestSigns, restOf } from '../../../server/src/work/rest.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

describe('what supplies the machine', () => {
  const power = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const folder = await tempFolder();
    await writeFiles(folder, files);
    return readPower(folder);
  };
  const battery = (status: string) => ({ 'BAT0/type': 'Battery\n', 'BAT0/status': `${status}\n` });
  const socket = (online: string) => ({ 'AC/type': 'Mains\n', 'AC/online': `${online}\n` });

  test('is the battery when that gets empty and nothing is plugged in', async () => {
    expect(await power({ ...battery('Discharging'), ...socket('0') })).toBe('battery');
    expect(await power(battery('Discharging'))).toBe('battery');
  });
  test('is the mains when something is plugged in, whatever the battery does', async () => {
    expect(await power({ ...battery('Discharging'), ...socket('1') })).toBe('mains');
    const usb = { 'usb/type': 'USB_C\n', 'usb/online': '1\n' };
    expect(await power({ ...battery('Not charging'), ...usb })).toBe('mains');
    expect(await power({ ...battery('Charging'), ...socket('0') })).toBe('mains');
  });
  test('is not the battery of a mouse', async () => {
    const mouse = {
      ...{ 'hid/type': 'Battery\n', 'hid/scope': 'Device\n', 'hid/status': 'Discharging\n' },
    };
    expect(await power(mouse)).toBe('unknown');
    expect(await power({ ...mouse, ...battery('Full') })).toBe('mains');
  });
  test('is not known where nothing says it', async () => {
    expect(await power({})).toBe('unknown');
    expect(await readPower(join(await tempFolder(), 'none'))).toBe('unknown');
  });
});

describe('the server', () => {
  const signs: RestSigns = {
    state: { state: 'running', reason: undefined },
    power: 'mains',
    userBusy: false,
  };
  const options = { onBattery: 'pause', yieldToUser: true } as const;
  const paused = { state: 'paused', reason: 'lunch' } as const;

  test('works where nothing speaks against it', () => {
    expect(restOf(signs, options)).toEqual({ kind: 'work' });
    expect(restOf({ ...signs, power: 'unknown' }, options)).toEqual({ kind: 'work' });
  });
  test('stops for an admin and on battery, and begins nothing beside the attempts of the user', () => {
    expect(restOf({ ...signs, state: paused, power: 'battery' }, options)).toMatchObject({
      ...{ why: 'paused', text: 'paused: lunch', stop: true },
    });
    expect(restOf({ ...signs, power: 'battery', userBusy: true }, options)).toMatchObject({
      ...{ why: 'battery', stop: true },
    });
    expect(restOf({ ...signs, userBusy: true }, options)).toMatchObject({
      ...{ why: 'user', stop: false },
    });
  });
  test('works on battery and beside the user where it was told to', () => {
    const told = { onBattery: 'work', yieldToUser: false } as const;
    expect(restOf({ ...signs, power: 'battery', userBusy: true }, told)).toEqual({ kind: 'work' });
  });

  test('does as much at a time as half of the cores and of the memory allow, and at least one job', () => {
    const GB = 1024 ** 3;
    const job = { memoryBytesPerJob: GB };
    expect(parallelJobs({ cores: 16, memoryBytes: 64 * GB }, job)).toBe(8);
    expect(parallelJobs({ cores: 16, memoryBytes: 8 * GB }, job)).toBe(4);
    expect(parallelJobs({ cores: 1, memoryBytes: GB }, job)).toBe(1);
    expect(parallelJobs({ cores: 2, memoryBytes: 64 * GB }, { ...job, parallel: 5 })).toBe(5);
    expect(parallelJobs({ cores: 2, memoryBytes: 4 * GB }, { ...job, parallel: 5 })).toBe(2);
    expect(mayStartAnother(0, 0, GB)).toBe(true);
    expect(mayStartAnother(1, GB - 1, GB)).toBe(false);
    expect(mayStartAnother(1, GB, GB)).toBe(true);
  });
});
