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

    private static boolean hasFiles(long pid) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(file -> file.getFileName().toString())
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
}
