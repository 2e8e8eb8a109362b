import { build } from 'esbuild';
import { root } from './steps.mjs';

/**
 * Makes bundles for a package that is put together elsewhere.
 *
 * @param {string} outdir
 * @param {readonly import('esbuild').BuildOptions[]} bundles
 * @returns {Promise<string[]>} sources that went in, from the checkout's root
 */
export async function bundleInto(outdir, bundles) {
  const into = { outdir, absWorkingDir: root, metafile: true, legalComments: 'none' };
  const results = await Promise.all(bundles.map((options) => build({ ...options, ...into })));
  return results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
