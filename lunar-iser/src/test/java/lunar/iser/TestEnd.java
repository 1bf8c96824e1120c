package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/** An end of a connection that keeps the PDUs that it receives. */
final class TestEnd implements PduReceiver {
    /** A received PDU. */
    record Came(Bhs bhs, MemorySegment ahs, byte[] data, String thread) {}

    private static final long PATIENCE_S = 60;

    private final Transport transport;
    private final BlockingQueue<Came> came = new LinkedBlockingQueue<>();
    private final CompletableFuture<Optional<IOException>> closed = new CompletableFuture<>();
    /** Called before a PDU is kept. */
    volatile Runnable before = () -> {};

    TestEnd(Transport transport) { this.transport = transport; }

    Transport transport() { return transport; }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        return MemorySegment.NULL;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) {
        before.run();
        came.add(new Came(
                new Bhs().wrap(MemorySegment.ofArray(bhs.bytes().toArray(ValueLayout.JAVA_BYTE))),
                MemorySegment.ofArray(ahs.toArray(ValueLayout.JAVA_BYTE)),
                data.toArray(ValueLayout.JAVA_BYTE), Thread.currentThread().getName()));
    }

    @Override
    public void dataDigestError(Bhs bhs) { throw new AssertionError("no digests"); }

    @Override
    public void batchEnd() { transport.flush(); }

    @Override
    public void closed(@Nullable IOException cause) { closed.complete(Optional.ofNullable(cause)); }

    /** Waits for the next PDU. */
    Came next() throws Exception {
        Came next = came.poll(PATIENCE_S, TimeUnit.SECONDS);
        assertThat(next).as("a PDU; the connection: %s", closed).isNotNull();
        return next;
    }

    Came next(int opcode) throws Exception {
        Came next = next();
        assertThat(next.bhs().opcode()).isEqualTo(opcode);
        return next;
    }

    boolean hasNothing() { return came.isEmpty(); }

    boolean isClosed() { return closed.isDone(); }

    /** Waits for the end of the connection and returns its cause; empty for an orderly end. */
    Optional<IOException> end() throws Exception {
        return closed.get(PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Runs something on the loop of the connection, and waits for it. */
    <T> T inLoop(Function<Transport, T> what) throws Exception {
        var done = new CompletableFuture<T>();
        transport.loop().execute(() -> {
            try {
                done.complete(what.apply(transport));
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        return done.get(PATIENCE_S, TimeUnit.SECONDS);
    }
}
