import { isIP } from 'node:net';

/**
 * Addresses alone, and the one name that is fixed: any other name is what a resolver says it is.
 *
 * @param host without the brackets that a URL puts around an IPv6 address
 */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** As `isLoopback`, for `URL.hostname`. */
export function isLoopbackHostname(hostname: string): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}
