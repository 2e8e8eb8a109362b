import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, TestCommand } from '../framework.ts';
import { insideProject } from '../select.ts';
import { plantCargoCanaries } from './canaries.ts';
import { detectCargo } from './detect.ts';
import launcher from './launch.sh';
import { isDocTest } from './names.ts';
import { parseCargoReport } from './parse.ts';
import { cargoSteering } from './steering.ts';
import { findCargo } from './toolchain.ts';

/** Linux allows 128 KiB for one argument, and more for all of them. */
const MAX_NAMES_BYTES = 100_000;

/**
 * `cargo test` of the stable tool chain. Ids are `src/parser.rs::tests::parses`: the file, then the
 * modules inside of it; doc tests are `src/lib.rs::doc add`.
 */
export const cargoTest: Framework = {
  id: 'cargo test',
  label: 'cargo test',
  detect: detectCargo,
  toolchain: (workspace) => findCargo(workspace),
  toolbox: { 'cargo-test/launch.sh': launcher },
  command,
  parse: parseCargoReport,
  steering: cargoSteering,
  plantCanaries: plantCargoCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly } = request;
  const names = cargoFilter(insideProject(request.tests, projectPath));
  return {
    argv: [
      ...['bash', `${TOOLBOX}/cargo-test/launch.sh`, String(reportFd), program],
      ...[listOnly ? 'list' : 'run', ...names],
    ],
    env: {
      CARGO_NET_OFFLINE: 'true',
      CARGO_TERM_COLOR: 'never',
      CARGO_TERM_PROGRESS_WHEN: 'never',
      CARGO_INCREMENTAL: '0',
      RUSTUP_AUTO_INSTALL: '0',
      // Frames say where in the sources a test failed.
      RUST_BACKTRACE: '1',
    },
    cwd: posix.join(WORKSPACE, projectPath),
  };
}

/**
 * What names of tests must contain; empty: all. The modules in front of an id's own depend on where
 * its crate begins, so they are left open, and what else matches is filtered out afterwards.
 */
export function cargoFilter(tests: readonly string[]): readonly string[] {
  // Whole files and folders have no name in common, and doc tests are named by their lines.
  if (!tests.every((id) => id.includes('::') && !isDocTest(id))) return [];
  const names = [...new Set(tests.map((id) => id.slice(id.indexOf('::') + 2)))];
  return names.join(' ').length > MAX_NAMES_BYTES ? [] : names;
}
