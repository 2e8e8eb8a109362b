/** Where the live connection is. */
export const LIVE_PATH = '/v1/live';
