package lunar.cli.systemd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceNotifierTest {
    /** More datagrams than a Unix socket queues. */
    private static final int MANY = 100_000;

    @TempDir
    Path folder;

    @Test
    void shouldReportEachStateAsOneDatagram() throws Throwable {
        String path = folder.resolve("notify").toString();
        try (var receiver = new NotifyReceiver(path);
                var manager = ServiceNotifier.of(Map.of("NOTIFY_SOCKET", path))) {
            manager.starting();
            assertThat(receiver.next()).isEqualTo("STATUS=starting");
            manager.ready("serving 1 LUN");
            assertThat(receiver.next()).isEqualTo("READY=1\nSTATUS=serving 1 LUN");
            long beforeUs = System.nanoTime() / 1000;
            manager.reloading();
            String[] lines = receiver.next().split("\n");
            assertThat(lines).hasSize(2).startsWith("RELOADING=1");
            assertThat(lines[1]).startsWith("MONOTONIC_USEC=");
            assertThat(Long.parseLong(lines[1].substring(lines[1].indexOf('=') + 1)))
                    .isBetween(beforeUs, System.nanoTime() / 1000);
            manager.reloaded("serving 2 LUNs");
            assertThat(receiver.next()).isEqualTo("READY=1\nSTATUS=serving 2 LUNs");
            manager.stopping();
            assertThat(receiver.next()).isEqualTo("STOPPING=1\nSTATUS=stopping");
        }
    }

    @Test
    void shouldFeedTheWatchdogOfAnAbstractSocketOnceItIsReady() throws Throwable {
        String name = "@lunar-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
        try (var receiver = new NotifyReceiver(name);
                var manager = ServiceNotifier.of(Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC",
                        "20000", "WATCHDOG_PID", "" + ProcessHandle.current().pid()))) {
            manager.reloading();
            assertThat(receiver.next()).startsWith("RELOADING=1");
            manager.ready("up");
            assertThat(receiver.next()).startsWith("READY=1");
            for (int i = 0; i < 5; i++) {
                assertThat(receiver.next()).isEqualTo("WATCHDOG=1");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"WATCHDOG_PID=1", "WATCHDOG_USEC=0", "WATCHDOG_USEC=soon"})
    void shouldNotFeedAWatchdogOfAnotherProcessOrNone(String variable) throws Throwable {
        String path = folder.resolve("notify").toString();
        var environment = new HashMap<>(Map.of("NOTIFY_SOCKET", path, "WATCHDOG_USEC", "1"));
        environment.put(variable.split("=")[0], variable.split("=")[1]);
        try (var receiver = new NotifyReceiver(path);
                var manager = ServiceNotifier.of(environment)) {
            manager.ready("up");
            assertThat(receiver.next()).startsWith("READY=1");
            Thread.sleep(50);
            manager.stopping();
            assertThat(receiver.next()).startsWith("STOPPING=1");
        }
    }

    @Test
    @Timeout(600)
    void shouldNotWaitForAServiceManagerThatDoesNotReceive() throws Throwable {
        String path = folder.resolve("notify").toString();
        try (var receiver = new NotifyReceiver(path);
                var manager = ServiceNotifier.of(Map.of("NOTIFY_SOCKET", path))) {
            var socket = new NotifySocket(path);
            var sent = new AtomicInteger();
            assertThatThrownBy(() -> {
                while (sent.get() < MANY) {
                    socket.send("STATUS=queued");
                    sent.incrementAndGet();
                }
            }).isInstanceOf(IOException.class);
            manager.starting();
            for (int i = 0; i < sent.get(); i++) {
                assertThat(receiver.next()).isEqualTo("STATUS=queued");
            }
            manager.stopping();
            assertThat(receiver.next()).startsWith("STOPPING=1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "relative", "@", "vsock:2:1", "/nowhere/at/all", "/too-long-"
            + "0123456789012345678901234567890123456789012345678901234567890123456789"
            + "0123456789012345678901234567890123456789"})
    void shouldGoOnWithoutAServiceManagerThatCanBeReached(String address) {
        try (var manager = ServiceNotifier.of(Map.of("NOTIFY_SOCKET", address))) {
            manager.ready("up");
            manager.reloading();
            manager.reloaded("up");
            manager.stopping();
        }
    }
}
