import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, TestCommand } from '../framework.ts';
import { insideProject } from '../select.ts';
import { plantJunitCanaries } from './canaries.ts';
import { detectJunit } from './detect.ts';
import { gradleInit } from './gradle-init.ts';
import launcher from './launch.sh';
import { parseJunitReport } from './parse.ts';
import { chosenTests, gradleArguments, mavenArguments } from './selection.ts';
import { junitSteering } from './steering.ts';
import { findBuildTool } from './toolchain.ts';

/**
 * Tests of the JVM through Maven or Gradle, read from their JUnit XML files. Ids are
 * `src/test/java/shop/CartTest.java::adds`, of nested classes `…::Inner > adds`.
 */
export const junit: Framework = {
  id: 'junit',
  label: 'JUnit XML (Maven, Gradle)',
  detect: detectJunit,
  toolchain: (workspace) => findBuildTool(workspace),
  toolbox: { 'junit/launch.sh': launcher, 'junit/init.gradle': gradleInit },
  command,
  parse: parseJunitReport,
  steering: junitSteering,
  plantCanaries: plantJunitCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly } = request;
  const chosen = chosenTests(insideProject(request.tests, projectPath));
  const isGradle = posix.basename(program).startsWith('gradle');
  const tool = isGradle
    ? [
        ...[program, '--offline', '--no-daemon', '--console=plain', '--continue'],
        ...['--init-script', `${TOOLBOX}/junit/init.gradle`, 'test', ...gradleArguments(chosen)],
      ]
    : [
        ...[program, '--offline', '--batch-mode', '--fail-at-end'],
        // A repository of packages may have been filled through a mirror that is not known here.
        ...['-Daether.enhancedLocalRepository.trackingFilename=none', '-Dstyle.color=never'],
        ...['-DfailIfNoTests=false', '-Dsurefire.failIfNoSpecifiedTests=false'],
        // With it a single failure would hide the rest.
        ...['-Dsurefire.skipAfterFailureCount=0', ...mavenArguments(chosen), 'test'],
      ];
  return {
    argv: [
      ...['bash', `${TOOLBOX}/junit/launch.sh`, String(reportFd), listOnly ? 'list' : 'run'],
      ...tool,
    ],
    env: {},
    cwd: posix.join(WORKSPACE, projectPath),
  };
}
