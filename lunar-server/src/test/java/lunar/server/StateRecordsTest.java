package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import lunar.block.ConnectionRecords;
import lunar.block.DeviceGoneException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which server records connections in a state directory. */
@Timeout(600)
class StateRecordsTest {
    private static final String IQN = "iqn.2026-11.org.lunar:state";

    @TempDir
    Path folder;

    private final List<String> warnings = new ArrayList<>();
    private final ServerListener listener = new ServerListener() {
        @Override
        public void warned(String message, @Nullable IOException cause) { warnings.add(message); }
    };

    private StateRecords records(Path directory) throws IOException {
        return new StateRecords(Optional.of(directory), listener, Duration.ZERO);
    }

    private static ConnectionRecords connections(StateRecords records) {
        return records.connections().orElseThrow();
    }

    @Test
    void shouldLeaveTheConnectionsToTheServerThatHasThem() throws Exception {
        try (var first = records(folder)) {
            assertThat(warnings).isEmpty();
            try (var second = records(folder)) {
                assertThat(second.connections()).isEmpty();
            }
            assertThat(warnings).singleElement().asString().contains("is in use by another server");
            connections(first).keep("one", "text");
        }
        try (var third = records(folder)) {
            assertThat(connections(third).find("one")).contains("text");
        }
        assertThat(warnings).hasSize(1);
    }

    @Test
    void shouldRemoveTheFileOfARecord() throws Exception {
        try (var records = records(folder)) {
            connections(records).keep("one", "text");
            assertThat(folder.resolve("devices/one")).exists();
            connections(records).remove("one");
            connections(records).remove("one");
            assertThat(folder.resolve("devices/one")).doesNotExist();
            assertThat(connections(records).find("one")).isEmpty();
        }
    }

    @Test
    void shouldChangeNoRecordsOfTheNextServer() throws Exception {
        ConnectionRecords late;
        try (var records = records(folder)) {
            late = connections(records);
        }
        try (var next = records(folder)) {
            connections(next).keep("one", "next");
            assertThatThrownBy(() -> late.keep("one", "late")).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> late.remove("one")).isInstanceOf(IOException.class);
            assertThat(connections(next).find("one")).contains("next");
        }
    }

    /** A device whose close goes on after the server has been closed has connections, too. */
    @Test
    void shouldKeepTheDirectoryUntilTheLastDeviceIsClosed() throws Exception {
        var limits = new ClosingLimits(Duration.ofMinutes(2), Duration.ofMillis(1),
                Duration.ofMillis(1), Duration.ofMillis(1));
        var devices = new ServedDevices(Optional.of(folder), listener, limits);
        var flushed = new CountDownLatch(1);
        ServedDevices.Round round = devices.round(
                (_, _) -> HookedDevice.of(() -> HookedDevice.await(flushed), () -> {}));
        var _ = round.device(IQN, 0, "ram:1MiB");
        var _ = round.keep(CompletableFuture.completedFuture(null));
        var _ = devices.round(DeviceOpener.DEVICES).keep(new CompletableFuture<>());
        assertThatThrownBy(devices::close).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("ram:1MiB could not be flushed and closed within");
        try (var next = records(folder)) {
            assertThat(next.connections()).isEmpty();
        }
        flushed.countDown();
        try (var next = new StateRecords(Optional.of(folder), listener, Duration.ofMinutes(2))) {
            assertThat(next.connections()).isPresent();
        }
    }

    @Test
    void shouldReadRecordsInADirectoryThatCannotBeLocked() throws Exception {
        try (var before = records(folder)) {
            connections(before).keep("one", "text");
        }
        Files.delete(folder.resolve(".lock"));
        Files.createDirectory(folder.resolve(".lock"));
        try (var records = records(folder)) {
            assertThat(connections(records).find("one")).contains("text");
        }
        assertThat(warnings).singleElement().asString().contains("cannot be locked");
    }

    @Test
    void shouldKeepALockThatIsSeenByALink() throws Exception {
        Path link = Files.createDirectory(folder.resolve("link"));
        Path own = Files.createDirectory(folder.resolve("own"));
        try (var first = records(own)) {
            assertThat(first.connections()).isPresent();
            Assumptions.assumeTrue(isLocked(own), "the kernel shows no locks");
            Files.createLink(link.resolve(".lock"), own.resolve(".lock"));
            try (var second = records(link)) {
                assertThat(second.connections()).isEmpty();
            }
            assertThat(isLocked(own)).isTrue();
        }
    }

    private static boolean isLocked(Path directory) throws IOException {
        Path locks = Path.of("/proc/locks");
        String inode = ":" + Files.getAttribute(directory.resolve(".lock"), "unix:ino") + " ";
        return Files.isReadable(locks)
                && Files.readAllLines(locks).stream().anyMatch(line -> line.contains(inode));
    }
}
