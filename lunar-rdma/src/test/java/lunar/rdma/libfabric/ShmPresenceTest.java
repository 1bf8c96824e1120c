package lunar.rdma.libfabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process deletes when it starts. Processes that run are in {@code ShmTwoProcessesTest}. */
class ShmPresenceTest {
    private static final String BOARD = "-0123456789abcdef";

    @TempDir
    Path folder;

    private void create(String... names) throws IOException {
        for (String name : names) {
            Files.createFile(folder.resolve(name));
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.startsWith("lunar-rdma-starts-")).sorted().toList();
        }
    }

    @Test
    void shouldDeleteFilesOfEarlierProcessWithSameNumber() throws IOException {
        create("77:0:0", "77:0:1", "lunar-rdma-77" + BOARD);
        ShmPresence shown = ShmPresence.show(folder, "77", Instant.MAX);
        assertThat(names()).singleElement().asString().startsWith("lunar-rdma-77-")
                .endsWith(".running");
        shown.hide();
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldDeleteFilesOfProcessThatWasKilled() throws IOException {
        // Beyond the largest number of a process (kernel.pid_max).
        create("lunar-rdma-5000000" + BOARD + ".running", "lunar-rdma-5000000" + BOARD,
                "5000000:0:0");
        ShmPresence.show(folder, "77", Instant.MAX).hide();
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldKeepOwnFilesOfItsNumber() throws IOException {
        create("77:0:0");
        ShmPresence.show(folder, "77", Instant.EPOCH).hide();
        assertThat(names()).containsExactly("77:0:0");
    }

    /** A number that is in use again belongs to a process that may have files of its own. */
    @Test
    void shouldKeepFilesOfRunningProcessThatHasNotShownItself() throws IOException {
        String number = Long.toString(ProcessHandle.current().pid());
        create("lunar-rdma-" + number + BOARD + ".running", number + ":0:0");
        ShmPresence.show(folder, "77", Instant.MAX).hide();
        assertThat(names()).containsExactly(number + ":0:0");
    }

    @Test
    void shouldWorkWithoutItsLockIfThatIsNotItsOwn() throws IOException {
        Files.createDirectory(
                folder.resolve("lunar-rdma-starts-" + Files.getAttribute(folder, "unix:uid")));
        create("77:0:0");
        ShmPresence.show(folder, "77", Instant.MAX).hide();
        assertThat(names()).containsExactly("77:0:0");
    }

    @Test
    void shouldKeepFilesOfProcessesThatHaveNotShownThemselves() throws IOException {
        create("79:0:0", "lunar-rdma-79" + BOARD, "770:0:0", "sem.77", "77:a", "lunar-rdma-77");
        List<String> before = names();
        ShmPresence.show(folder, "77", Instant.MAX).hide();
        assertThat(names()).isEqualTo(before);
    }
}
