import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Arrays;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the test classes that its arguments name and prints what became of each test. Exits with 1 if one failed, or none
 * succeeded.
 */
final class RunTests implements TestExecutionListener {
    private int succeeded;
    private int failed;

    public static void main(String[] args) {
        var listener = new RunTests();
        var request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(args).map(name -> selectClass(name)).toList())
                .configurationParameter("junit.jupiter.execution.timeout.default", "3 m")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true");
        LauncherFactory.create().execute(request.build(), listener);
        System.out.println(listener.succeeded + " succeeded, " + listener.failed + " failed");
        System.exit(listener.failed == 0 && listener.succeeded > 0 ? 0 : 1);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        result.getThrowable().ifPresent(cause -> cause.printStackTrace(System.out));
        if (result.getStatus() == TestExecutionResult.Status.FAILED) {
            failed++;
        } else if (test.isTest()) {
            succeeded++;
        }
        if (test.isTest()) {
            System.out.println(result.getStatus() + " " + test.getDisplayName());
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        System.out.println("SKIPPED " + test.getDisplayName() + ": " + reason);
    }
}
