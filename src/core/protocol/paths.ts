/** Where the live connection is. */
export const LIVE_PATH = '/v1/live';

/** HTTP. Versions of policies: a list, a manifest, its files. */
export const POLICIES_PATH = '/v1/policies';

/** HTTP. Task archives by their sha256. */
export const ARCHIVES_PATH = '/v1/archives';
