import type { Steering } from '../framework.ts';
import { isJunitTestFile } from './detect.ts';

/**
 * Builds as a whole: plugins, dependencies and system properties are all in there, and without a
 * network a fix cannot add packages anyway. Services are loaded by JUnit from the class path, sources
 * too, and a class in the place of the library's own would be found first.
 */
const STEERING_FILE =
  /(?:^|\/)(?:pom\.xml|(?:build|settings|init)\.gradle(?:\.kts)?|gradle\.properties|gradle\.lockfile|mvnw|gradlew|lombok\.config|junit-platform\.properties)$|(?:^|\/)(?:\.mvn|gradle|buildSrc|META-INF\/services|META-INF\/maven)\//;
const SHADOWS = /(?:^|\/)(?:org\/(?:junit|opentest4j|assertj|hamcrest|mockito|testng)|junit)\//;

export const junitSteering: Steering = {
  isTestFile: isJunitTestFile,
  isSteeringFile: (path) => STEERING_FILE.test(path) || SHADOWS.test(path),
  restoreKeys: () => undefined,
};
