package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessAccessTest {
    private static final String NONE = "0000000000000000";
    private static final String PTRACE = "0000000000080000";
    private static final String ROOT = "000001ffffffffff";
    private static final String ALL_BUT_PTRACE = "000001fffff7ffff";

    @ParameterizedTest
    @CsvSource({"0," + NONE, "1," + PTRACE, "1," + ROOT, "2," + ROOT})
    void shouldPermit(String scope, String capabilities) {
        assertThat(ProcessAccess.obstacle(scope + "\n", status(capabilities))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1," + NONE, "1," + ALL_BUT_PTRACE, "2," + NONE, "3," + ROOT})
    void shouldForbid(String scope, String capabilities) {
        assertThat(ProcessAccess.obstacle(scope + "\n", status(capabilities)))
                .hasValueSatisfying(text -> assertThat(text)
                        .startsWith("kernel.yama.ptrace_scope is " + scope));
    }

    private static String status(String capabilities) {
        return "Name:\tjava\nCapInh:\t" + NONE + "\nCapPrm:\t" + ROOT + "\nCapEff:\t" + capabilities
                + "\nCapBnd:\t" + ROOT + "\n";
    }
}
