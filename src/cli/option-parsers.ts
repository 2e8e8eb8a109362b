import { InvalidArgumentError } from 'commander';

/** How options become numbers; a wrong one is told with what it must be. */

export function positive(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('must be a whole number above 0.');
  return number;
}

export function atLeastTwo(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 2)
    throw new InvalidArgumentError('must be a whole number, 2 or above.');
  return number;
}

export function wholeNumber(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isInteger(number) || number < 0)
    throw new InvalidArgumentError('must be a whole number, 0 or above.');
  return number;
}

export function temperature(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number < 0 || number > 2)
    throw new InvalidArgumentError('must be a number from 0 to 2.');
  return number;
}

export function positiveNumber(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError('must be a number above 0.');
  return number;
}
