import type { Steering } from '../framework.ts';
import { isJunitTestFile } from './detect.ts';

/**
 * Builds as a whole: plugins, dependencies and system properties are all in there, and without a
 * network a fix cannot add packages anyway. Services are loaded by JUnit from the class path, sources
 * too, and a class in the place of the library's own would be found first.
 */
const STEERING_FILE =
  /(?:^|\/)(?:pom\.xml|[^/]+\.gradle(?:\.kts)?|gradle\.properties|gradle\.lockfile|mvnw|gradlew|lombok\.config|junit-platform\.properties)$|(?:^|\/)(?:\.mvn|buildSrc|build-logic|META-INF\/services|META-INF\/maven)\//;
/** Versions and wrapper; in sources it is a package. */
const GRADLE_FOLDER = /^(?!(?:.*\/)?src\/)(?:.*\/)?gradle\//;
const SHADOWS =
  /(?:^|\/)(?:org\/(?:junit|opentest4j|assertj|hamcrest|mockito|testng|spockframework|easymock)|junit\/(?:framework|extensions|runner|textui)|kotlin\/test|io\/(?:kotest|mockk)|com\/google\/common\/truth|spock\/lang)\//;

export const junitSteering: Steering = {
  isExact: true,
  isTestFile: isJunitTestFile,
  isSteeringFile: (path) =>
    STEERING_FILE.test(path) || GRADLE_FOLDER.test(path) || SHADOWS.test(path),
  restoreKeys: () => undefined,
};
