package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lunar.rdma.message.Messenger;
import lunar.rdma.message.MessengerOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Contract of connections between two processes, one of which may be killed. */
abstract class TwoProcessesContract {
    private Process process;
    private ProtectionDomain domain;
    private MemoryPool pool;
    private Messenger messenger;

    abstract String device();

    /** Returns why two processes cannot have a connection here; empty if they can. */
    Optional<String> obstacle() throws IOException {
        return Optional.empty();
    }

    Process peer() { return process; }

    Messenger messenger() { return messenger; }

    /** Starts a process that accepts connections. */
    Process startPeer() throws IOException {
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-Xmx64m", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), MessengerPeer.class.getName(), device())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Returns the port of a process that was started, once it listens. */
    static int portOf(Process process) throws IOException {
        var out = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        return Integer.parseInt(out.readLine());
    }

    @BeforeEach
    void start() throws Exception {
        obstacle().ifPresent(this::skip);
        try {
            domain = Rdma.device(device()).open();
        } catch (RdmaUnavailableException e) {
            skip(e.getMessage());
        }
        process = startPeer();
        int port = portOf(process);
        messenger = Messenger.connect(domain, new InetSocketAddress("127.0.0.1", port),
                MessengerOptions.DEFAULT.withTimeout(60_000), new byte[0]);
        pool = domain.createPool(2, MessengerPeer.BYTES, Access.ALL);
    }

    private void skip(String reason) {
        System.out.println(getClass().getSimpleName() + " is skipped: " + reason);
        assumeTrue(false, reason);
    }

    @AfterEach
    void stop() throws Exception {
        if (messenger != null) {
            messenger.close();
            pool.close();
            assertThat(domain.use()).isEqualTo(MemoryUse.NONE);
            domain.close();
        }
        if (process != null) {
            if (!process.waitFor(1, TimeUnit.MINUTES)) { // the peer exits when the connection ends
                process.destroyForcibly();
                fail("the peer does not end");
            }
        }
    }

    private String ask(String question) throws RdmaException {
        messenger.send(question.getBytes(StandardCharsets.UTF_8));
        return new String(messenger.receive(0), StandardCharsets.UTF_8);
    }

    private RemoteMemory memoryOfPeer() throws RdmaException {
        String[] parts = ask("where").split(" ");
        return new RemoteMemory(Long.parseLong(parts[0]), Integer.parseInt(parts[1]),
                Long.parseLong(parts[2]));
    }

    @Test
    void shouldExchangeMessages() throws Exception {
        for (int i = 0; i < 50; i++) {
            assertThat(ask("message " + i)).isEqualTo("message " + i);
        }
        String longer = "x".repeat(60_000);
        for (int i = 0; i < 10; i++) {
            assertThat(ask(longer)).isEqualTo(longer);
        }
    }

    @Test
    void shouldReadAndWriteMemoryOfOtherProcess() throws Exception {
        RemoteMemory remote = memoryOfPeer();
        MemorySlice local = pool.take();
        messenger.read(local, 0, 19, remote);
        assertThat(Side.text(local)).isEqualTo("memory of the peer");

        String text = "0123456789".repeat(100_000);
        local.segment().setString(0, text);
        messenger.write(local, 0, text.length() + 1, remote);
        MemorySlice back = pool.take();
        messenger.read(back, 0, text.length() + 1, remote);
        assertThat(Side.text(back)).isEqualTo(text);
        local.segment().setString(0, "short");
        messenger.write(local, 0, 6, remote);
        assertThat(ask("what")).isEqualTo("short");
    }

    @Test
    void shouldNotWriteWithWrongKey() throws Exception {
        RemoteMemory remote = memoryOfPeer();
        MemorySlice local = pool.take();
        assertThatThrownBy(() -> messenger.write(local, 0, 6,
                new RemoteMemory(remote.address(), remote.key() ^ 0x10000, 6)))
                .isInstanceOf(OperationException.class);
    }

    @Test
    void shouldDetectThatPeerWasKilled() throws Exception {
        assertThat(ask("hello")).isEqualTo("hello");
        process.destroyForcibly().waitFor();
        assertThatThrownBy(() -> messenger.receive(0)).isInstanceOfSatisfying(
                ConnectionException.class, e -> assertThat(e.reason())
                        .isEqualTo(ConnectionException.Reason.LOST));
        assertThat(messenger.endpoint().state()).isEqualTo(EndpointState.ERROR);
    }

    @Test
    void shouldReleaseMemoryAfterPeerWasKilledWithOperationsInFlight() throws Exception {
        RemoteMemory remote = memoryOfPeer();
        messenger.send("quiet".getBytes(StandardCharsets.UTF_8));
        MemorySlice local = pool.take();
        var work = new WorkRequest();
        for (int i = 0; i < 4; i++) {
            messenger.endpoint().post(work.read(remote).add(local).unsignalled());
        }
        process.destroyForcibly().waitFor();
        assertThatThrownBy(() -> messenger.receive(0)).isInstanceOf(RdmaException.class);
        messenger.close();
        assertThat(local.posted()).isZero();
    }

    @RepeatedTest(3)
    void shouldSurviveThatPeerIsKilledWhileItWrites() throws Exception {
        MemorySlice target = pool.take();
        messenger.send(("write " + target.remoteAddress() + " " + target.remoteKey())
                .getBytes(StandardCharsets.UTF_8));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Side.text(target).equals("memory of the peer")) {
            assertThat(messenger.receive(1)).isNull();
            assertThat(System.nanoTime() - end).isNegative();
        }
        process.destroyForcibly().waitFor();
        assertThatThrownBy(() -> messenger.receive(0)).isInstanceOf(ConnectionException.class);
    }
}
