package lunar.rdma.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class ProcessIdentityTest {
    private static Process start() throws Exception {
        return new ProcessBuilder("sleep", "600").start();
    }

    @Test
    void shouldRunUntilItEnds() throws Exception {
        Process process = start();
        ProcessIdentity identity = ProcessIdentity.of((int) process.pid());
        assertThat(identity.isRunning()).isTrue();
        process.destroyForcibly().waitFor();
        assertThat(identity.isRunning()).isFalse();
        assertThatThrownBy(() -> ProcessIdentity.of((int) process.pid()))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void shouldDistinguishProcessesWithTheSameNumber() throws Exception {
        ProcessIdentity own = ProcessIdentity.of((int) ProcessHandle.current().pid());
        assertThat(own.isRunning()).isTrue();
        assertThat(new ProcessIdentity(own.number(), own.startTicks() - 1).isRunning()).isFalse();
    }

    /** The shell does not wait for its child, which is killed and remains as a zombie. */
    @Test
    void shouldNotTakeAZombieForRunning() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "sleep 600 & echo $!; exec sleep 601")
                .start();
        int child = Integer.parseInt(shell.inputReader().readLine());
        ProcessIdentity identity = ProcessIdentity.of(child);
        assertThat(identity.isRunning()).isTrue();
        assertThat(ProcessHandle.of(child).orElseThrow().destroyForcibly()).isTrue();
        for (int i = 0; i < 60_000 && identity.isRunning(); i++) {
            Thread.sleep(1);
        }
        assertThat(identity.isRunning()).isFalse();
        shell.destroyForcibly().waitFor();
    }
}
