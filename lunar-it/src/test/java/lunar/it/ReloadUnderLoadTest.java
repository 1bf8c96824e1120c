package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that sessions at work notice nothing of reloads: of a server process whose LUNs, sizes, limits and CHAP users
 * change. A session that is lost fails its work, since it must not log in again.
 */
@Timeout(900)
class ReloadUnderLoadTest {
    private static final String IQN = "iqn.2026-11.org.lunar:reload";
    private static final int LUNS = 4;
    private static final int SESSIONS = 16;
    private static final int BLOCKS = 4096;
    private static final int ROUNDS = 5;

    @TempDir
    Path folder;

    private Path secret(String name) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "secret-of-" + name + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private String lun(int number, String size, String limit) {
        return "{ lun = " + number + ", uri = \"file:" + folder.resolve("disk" + number)
                + "?size=" + size + "\"" + (limit.isEmpty() ? "" : ", limit = \"" + limit + "\"")
                + " }";
    }

    private static String config(Path secret, Stream<String> luns) {
        return "portals = [\"127.0.0.1:0\"]\n[[target]]\niqn = \"" + IQN + "\"\nchap = \"user:@"
                + secret + "\"\nluns = [" + luns.collect(Collectors.joining(", ")) + "]\n";
    }

    /** The LUNs of the sessions; the first one of this size, the second one with this limit. */
    private List<String> luns(String size, String limit) {
        return List.of(lun(0, size, ""), lun(1, "16MiB", limit), lun(2, "16MiB", ""),
                lun(3, "16MiB", ""));
    }

    private static String url(ServeProcess server, int lun, Path secret) {
        return server.url(0, IQN, lun).replace("//", "//user@") + "?secret-file=" + secret
                + "&no-path-retry=fail";
    }

    @Test
    void shouldDropNoSessionAndFailNoCommand() throws Exception {
        Path secret = secret("one");
        Path other = secret("two");
        var enough = new AtomicBoolean();
        var work = new ArrayList<Future<Integer>>();
        var devices = new ArrayList<BlockDevice>();
        try (var server = new ServeProcess(folder,
                config(secret, luns("16MiB", "").stream()), LUNS)) {
            try {
                for (int i = 0; i < SESSIONS; i++) {
                    devices.add(Devices.open(url(server, i % LUNS, secret)));
                    work.add(VerifiedWork.start(devices.getLast(), (long) i / LUNS * BLOCKS,
                            BLOCKS, i, enough));
                }
                for (int round = 1; round <= ROUNDS; round++) {
                    change(server, round, secret, other);
                }
                assertThat(work).as("sessions that were lost").noneMatch(Future::isDone);
                enough.set(true);
                for (Future<Integer> one : work) {
                    assertThat(one.get()).isPositive();
                }
            } finally {
                enough.set(true);
                for (BlockDevice device : devices) {
                    device.close();
                }
            }
        }
    }

    /** Changes everything, and most of it back. */
    private void change(ServeProcess server, int round, Path secret, Path other)
            throws Exception {
        String before = 16 * round + "MiB";
        String size = 16 * (round + 1) + "MiB";
        assertThat(server.reload(config(secret, Stream.concat(luns(before, "").stream(),
                Stream.of(lun(LUNS, "1MiB", ""))))))
                .anyMatch(line -> line.startsWith("serving " + IQN + " lun 4 "));
        assertThat(server.reload(config(secret, luns(size, "").stream())))
                .anyMatch(line -> line.startsWith("no longer serving " + IQN + " lun 4 "))
                .anyMatch(line -> line.startsWith("resized " + IQN + " lun 0 "));
        assertThat(server.reload(config(secret, luns(size, "500iops").stream())))
                .containsExactly("set target " + IQN + ": lun 1: limit to \"500iops\"");
        assertThat(server.reload(config(other, luns(size, "20MiB").stream())))
                .anyMatch(line -> line.contains("limit from \"500iops\" to \"20MiB\""))
                .anyMatch(line -> line.contains(": chap from "));
        assertThatThrownBy(() -> Devices.open(url(server, 0, secret)))
                .isInstanceOf(IOException.class);
        Devices.open(url(server, 0, other)).close();
        server.refuse("luns = [\"ram:1MiB\"", "not TOML");
        assertThat(server.reload(config(secret, luns(size, "").stream())))
                .anyMatch(line -> line.contains("removed target " + IQN + ": lun 1: limit"));
    }
}
