package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;

/** Tests the lines of the audit log about logins and logouts. */
class SessionAuditTest {
    private static final String WHO = RawInitiator.NAME + " (ISID " + RawInitiator.isid(1)
            + ") from 127.0.0.1:";

    private static List<String> lines(CapturedLog log, int count) {
        TargetFixture.await("the lines", () -> log.linesWith("").size() >= count);
        return log.linesWith("");
    }

    @Test
    void shouldTellWhoLogsInFromWhereAndHow() throws Exception {
        try (var log = new CapturedLog("lunar.audit"); var target = new TargetFixture()) {
            try (var initiator = target.ready(1, "ErrorRecoveryLevel=1")) {
                assertThat(lines(log, 1)).singleElement().asString().startsWith("login: " + WHO)
                        .contains(" to " + RawInitiator.TARGET + " at "
                                + target.server.listening().getFirst() + ": no authentication,"
                                + " header digest none, data digest none, ErrorRecoveryLevel 1,"
                                + " MaxConnections ");
                initiator.logout();
                assertThat(lines(log, 2).getLast()).startsWith("logout: " + WHO)
                        .contains(" to " + RawInitiator.TARGET + " after ")
                        .endsWith(" s: logged out");
            }
        }
    }

    @Test
    void shouldTellWhichDigestsAreUsed() throws Exception {
        try (var log = new CapturedLog("lunar.audit");
                var target = new TargetFixture();
                var initiator = new RawInitiator(target.server)) {
            assertThat(initiator.login(RawInitiator.isid(1), "HeaderDigest=CRC32C,None",
                    "DataDigest=None").status()).isZero();
            assertThat(lines(log, 1).getFirst())
                    .contains("header digest CRC32C, data digest none");
        }
    }

    @Test
    void shouldTellWhyASessionEndsWithoutALogout() throws Exception {
        try (var log = new CapturedLog("lunar.audit"); var target = new TargetFixture()) {
            target.ready(1).close();
            assertThat(lines(log, 2).getLast()).startsWith("logout: " + WHO)
                    .endsWith(" s: the initiator closed the connection");
            try (var old = target.ready(1)) {
                try (var again = target.ready(1)) {
                    assertThat(lines(log, 5)).anySatisfy(line -> assertThat(line)
                            .startsWith("logout: ").endsWith("reinstated by a new login"));
                }
                assertThat(old.isClosedByTarget()).isTrue();
            }
        }
    }

    @Test
    void shouldTellThatAConnectionJoinsASession() throws Exception {
        try (var log = new CapturedLog("lunar.audit");
                var target = new TargetFixture();
                var initiator = target.ready(1, "MaxConnections=2");
                var second = initiator.another(target.server, RawInitiator.isid(1), 1)) {
            assertThat(second.loginAnswer().status()).isZero();
            assertThat(lines(log, 2).getLast()).startsWith("connection: " + WHO)
                    .contains(": connection 1 from 127.0.0.1:");
        }
    }

    @Test
    void shouldSayNothingOfRefusedLogins() throws Exception {
        try (var log = new CapturedLog("lunar.audit");
                var warnings = new CapturedLog("lunar.target");
                var target = new TargetFixture();
                var refused = new RawInitiator(target.server)) {
            assertThat(refused.loginAs(RawInitiator.NAME, "iqn.2026-11.org.lunar:none").status())
                    .isEqualTo(0x0203);
            assertThat(lines(warnings, 1)).singleElement().asString()
                    .endsWith("ended: login refused, no such target: iqn.2026-11.org.lunar:none");
            assertThat(log.linesWith("")).isEmpty();
        }
    }
}
