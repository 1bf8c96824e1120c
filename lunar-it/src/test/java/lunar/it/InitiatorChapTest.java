package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.initiator.ChapOptions;
import lunar.initiator.ChapSource;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.Secret;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/**
 * Tests the initiator's CHAP policies against Lunar's target: algorithms, secrets that change, no secrets in the logs.
 */
@Timeout(180)
class InitiatorChapTest {
    private static final String USER = "backup";
    private static final String FIRST = "the-first-secret";
    private static final String SECOND = "the-second-secret";
    private static final String THEIRS = "a-secret-of-the-target";
    private static final ChapCredentials TARGET = credentials("array", THEIRS);
    private final Queue<String> logged = new ConcurrentLinkedQueue<>();
    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final Level level = root.getLevel();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            var thrown = event.getThrowableProxy();
            logged.add(event.getFormattedMessage()
                    + (thrown == null ? "" : ThrowableProxyUtil.asString(thrown)));
        }
    };
    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:chap");
    private volatile Secret valid = Secret.of(FIRST);

    private static ChapCredentials credentials(String name, String secret) {
        return new ChapCredentials(name, Secret.of(secret));
    }

    @BeforeEach
    void listen() {
        appender.setContext(root.getLoggerContext());
        appender.start();
        root.setLevel(Level.TRACE);
        root.addAppender(appender);
    }

    @AfterEach
    void shouldLogNoSecret() {
        initiator.close();
        root.detachAppender(appender);
        root.setLevel(level);
        assertThat(logged).as("log at its finest").isNotEmpty()
                .noneMatch(line -> line.contains(FIRST) || line.contains(SECOND)
                        || line.contains(THEIRS));
    }

    private ServedTarget served(List<ChapAlgorithm> accepted) throws IOException {
        var policy = new ChapPolicy(accepted,
                name -> name.equals(USER) ? Optional.of(valid) : Optional.empty(),
                Optional.of(TARGET));
        return ServedTarget.of(target -> target.withChap(policy),
                server -> server.offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                        .discoveryChap(policy),
                "ram:1MiB");
    }

    private static SessionOptions at(int port, ChapOptions chap) {
        return SessionOptions.of("127.0.0.1", port, ServedTarget.NAME)
                .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0)).withChap(chap);
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private static ChapOptions own(String secret) {
        return ChapOptions.of(credentials(USER, secret));
    }

    @ParameterizedTest
    @EnumSource
    void shouldProveBothEndsByEachAlgorithm(ChapAlgorithm algorithm) throws Exception {
        var only = List.of(algorithm);
        var both = own(FIRST).withTarget(TARGET);
        try (var target = served(only);
                Session session = initiator.login(at(port(target), both.withAlgorithms(only)))) {
            assertThat(session.loginResult().chapUser()).contains(TARGET.name());
            assertThat(initiator.discover(at(port(target), both)))
                    .extracting(found -> found.name()).containsExactly(ServedTarget.NAME);
            assertThatThrownBy(() -> initiator.login(at(port(target),
                    own(FIRST).withTarget(credentials(TARGET.name(), SECOND)))))
                    .isInstanceOf(LoginException.class)
                    .hasMessageContaining("the target failed to authenticate itself");
        }
    }

    @Test
    void shouldNotLogInWhereNoAlgorithmIsLeft() throws Exception {
        try (var target = served(List.of(ChapAlgorithm.MD5))) {
            var strong = List.of(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256);
            SessionOptions options = at(port(target), own(FIRST).withAlgorithms(strong));
            Consumer<Throwable> refused = e -> {
                assertThat(e).isInstanceOf(LoginException.class)
                        .hasMessageContaining("algorithms offered: sha3-256, sha-256");
            };
            assertThatThrownBy(() -> initiator.login(options)).satisfies(refused);
            assertThatThrownBy(() -> initiator.discover(options)).satisfies(refused);
            assertThatThrownBy(() -> MultipathDevice.open(initiator,
                    MultipathOptions.of(List.of(options), Lun.ZERO)))
                    .hasMessageContaining("algorithms offered: sha3-256, sha-256");
            initiator.login(at(port(target), own(FIRST))).close();
        }
    }

    @Test
    void shouldNotLogInWithAWrongSecret() throws Exception {
        try (var target = served(ChapAlgorithm.DEFAULT_ORDER)) {
            assertThatThrownBy(() -> initiator.login(at(port(target), own(SECOND))))
                    .isInstanceOfSatisfying(LoginException.class, e -> {
                        assertThat(e.statusClass()).isEqualTo(2);
                        assertThat(e.statusDetail()).isEqualTo(1);
                        assertThat(e).hasMessageContaining("check the CHAP user and secret")
                                .hasMessageNotContaining(SECOND);
                    });
        }
    }

    @Test
    void shouldQuerySecretAtEachLogin() throws Exception {
        var asked = new ConcurrentLinkedQueue<String>();
        ChapSource vault = name -> {
            asked.add(name);
            return new ChapCredentials(USER, valid);
        };
        try (var target = served(ChapAlgorithm.DEFAULT_ORDER);
                var proxy = new CutProxy(port(target));
                var device = MultipathDevice.open(initiator,
                        MultipathOptions.of(List.of(at(proxy.port(), ChapOptions.of(vault))),
                                Lun.ZERO).withPauses(10, 100))) {
            assertThat(asked).containsExactly(ServedTarget.NAME);
            valid = Secret.of(SECOND);
            proxy.cut();
            ServedTarget.await("another login", () -> asked.size() > 1
                    && device.paths().getFirst().state() == Path.State.UP);
            device.flush();
            initiator.discover(at(port(target), ChapOptions.of(vault)));
            assertThat(asked).endsWith("").contains(ServedTarget.NAME);
        }
    }

    @Test
    void shouldNotWaitForASourceThatBreaksDown() throws Exception {
        ChapSource broken = _ -> {
            throw new NoClassDefFoundError("of the vault");
        };
        try (var target = served(ChapAlgorithm.DEFAULT_ORDER)) {
            var options = MultipathOptions
                    .of(List.of(at(port(target), ChapOptions.of(broken))), Lun.ZERO);
            assertThatThrownBy(() -> MultipathDevice.open(initiator, options))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("NoClassDefFoundError: of the vault");
        }
    }

    @Test
    void shouldWorkWhereJavaIsWithoutMd5() throws Exception {
        try (var _ = new JavaWithoutMd5(); var target = served(ChapAlgorithm.DEFAULT_ORDER)) {
            assertThat(ChapAlgorithm.MD5.isAvailable()).isFalse();
            String uri = target.url(USER, FIRST, 0);
            try (var device = Devices.open(uri)) {
                device.flush();
                assertThat(device.identity().uuid().version()).isPositive();
            }
            try (var device = Devices.open(uri + "?chap-algorithms=md5,sha-1")) {
                device.flush();
            }
            assertThatThrownBy(() -> Devices.open(uri + "?chap-algorithms=md5"))
                    .hasMessageContaining("this Java provides none of the CHAP algorithms")
                    .hasMessageContaining(": md5");
        }
        assertThat(ChapAlgorithm.MD5.isAvailable()).as("given back").isTrue();
    }

    @Test
    void shouldReportAlgorithmsMissingInJava() throws Exception {
        try (var target = served(List.of(ChapAlgorithm.SHA256)); var _ = new JavaWithoutMd5()) {
            assertThatThrownBy(() -> initiator.login(at(port(target), own(FIRST).withAlgorithms(
                    List.of(ChapAlgorithm.MD5, ChapAlgorithm.SHA1)))))
                    .isInstanceOf(LoginException.class)
                    .hasMessageContaining("offered: sha-1 (this Java does not provide md5)");
        }
    }

    @Test
    void shouldReleaseSecretsAfterTheLogin() throws Exception {
        var given = new ArrayList<WeakReference<Secret>>();
        ChapSource source = _ -> {
            Secret secret = Secret.of(FIRST);
            given.add(new WeakReference<>(secret));
            return new ChapCredentials(USER, secret);
        };
        try (var target = served(ChapAlgorithm.DEFAULT_ORDER);
                Session session = initiator.login(at(port(target), ChapOptions.of(source)))) {
            assertThat(given).hasSize(1);
            ServedTarget.await("the secret is garbage", () -> {
                System.gc();
                return given.getFirst().refersTo(null);
            });
            assertThat(session.isOpen()).isTrue();
        }
    }
}
