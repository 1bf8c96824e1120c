package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs {@link TwoProcessesContract} on libfabric's shm, and tests its files. */
class ShmTwoProcessesTest extends TwoProcessesContract {
    @Override
    String device() { return "libfabric:shm"; }

    @Override
    Optional<String> obstacle() throws IOException { return ProcessAccess.obstacle(); }

    /** Whether there is shared memory of a process. */
    private static boolean hasFiles(long pid) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.endsWith(".running")) // empty
                    .anyMatch(name -> name.startsWith(pid + ":")
                            || name.startsWith("lunar-rdma-" + pid + "-"));
        }
    }

    @Test
    void shouldDeleteFilesOfPeerThatWasKilled() throws Exception {
        long pid = peer().pid();
        assertThat(hasFiles(pid)).isTrue();
        peer().destroyForcibly().waitFor();
        messenger().close();
        assertThat(hasFiles(pid)).isFalse();
    }

    @Test
    void shouldDeleteFilesAtTheEnd() throws Exception {
        messenger().close();
        peer().waitFor();
        assertThat(hasFiles(peer().pid())).isFalse();
    }

    /** Its peers delete the files of a killed process, if it has any and they are not killed as well. */
    @Test
    void shouldDeleteFilesOfProcessesThatHaveEndedAtStart() throws Exception {
        Process killed = startPeer();
        assertThat(portOf(killed)).isPositive();
        assertThat(hasFiles(killed.pid())).isTrue(); // before: any process that starts deletes them
        killed.destroyForcibly().waitFor();

        Process next = startPeer();
        try {
            assertThat(portOf(next)).isPositive();
            assertThat(hasFiles(killed.pid())).isFalse();
            assertThat(hasFiles(next.pid())).isTrue();
            assertThat(hasFiles(peer().pid())).isTrue();
            assertThat(hasFiles(ProcessHandle.current().pid())).isTrue();
        } finally {
            next.destroyForcibly().waitFor();
        }
    }
}
