/** Handed to Gradle with `--init-script`. */
export const gradleInit = `// Results are wanted anew in every run, and names of tests that a subproject does not have are no error.
allprojects {
    tasks.withType(Test) {
        outputs.upToDateWhen { false }
        outputs.cacheIf { false }
        filter { failOnNoMatchingTests = false }
        testLogging { events 'started', 'passed', 'failed', 'skipped' }
    }
}
`;
