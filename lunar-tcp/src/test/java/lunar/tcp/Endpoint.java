package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transport.Release;
import org.jspecify.annotations.Nullable;

/** Endpoint of a connection in a test: records its callbacks, and runs an action of the test for each PDU. */
class Endpoint implements PduReceiver {
    /** Action for a PDU. */
    @FunctionalInterface
    interface OnPdu {
        void received(Endpoint self, Bhs bhs, MemorySegment data) throws ProtocolException;
    }

    static final InetSocketAddress ANY_PORT = new InetSocketAddress(
            InetAddress.getLoopbackAddress(), 0);

    final Transport transport;
    /** Initiator task tags in the order they came. */
    final LinkedBlockingQueue<Integer> tags = new LinkedBlockingQueue<>();
    final CountDownLatch closed = new CountDownLatch(1);
    final AtomicInteger closedCount = new AtomicInteger();
    volatile @Nullable IOException cause;
    volatile boolean inReceived;
    volatile boolean closedInsideReceived;
    private final OnPdu onPdu;

    Endpoint(Transport transport) { this(transport, (_, _, _) -> {}); }

    Endpoint(Transport transport, OnPdu onPdu) {
        this.transport = transport;
        this.onPdu = onPdu;
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        return MemorySegment.NULL;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        inReceived = true;
        int tag = bhs.itt();
        onPdu.received(this, bhs, data);
        tags.add(tag);
        inReceived = false;
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException {
        throw new ProtocolException("data digest");
    }

    @Override
    public void batchEnd() { transport.flush(); }

    @Override
    public void closed(@Nullable IOException cause) {
        closedInsideReceived |= inReceived;
        this.cause = cause;
        closedCount.incrementAndGet();
        closed.countDown();
    }

    /** A PDU's header: opcode 0, its tag, its length. */
    static MemorySegment header(int tag, long dataBytes) {
        MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH]);
        new Bhs().wrap(header).lengths(0, (int) dataBytes).int32(16, tag);
        return header;
    }

    void send(int tag, MemorySegment data, Release release) {
        transport.send(header(tag, data.byteSize()), data, release);
    }

    void send(int tag) { send(tag, MemorySegment.NULL, Release.NOTHING); }

    /** Sends a PDU and waits for the answer of an end that echoes. */
    void ping(int tag) throws InterruptedException {
        send(tag);
        transport.flush();
        assertThat(tags.poll(60, TimeUnit.SECONDS)).as("echo").isEqualTo(tag);
    }

    /** Answers each PDU by its tag. */
    static void echo(Endpoint self, Bhs bhs, MemorySegment data) {
        self.send(bhs.itt());
    }

    void awaitClosed() throws InterruptedException { await(closed, "closed"); }

    static void await(CountDownLatch latch, String what) throws InterruptedException {
        assertThat(latch.await(60, TimeUnit.SECONDS)).as("%s within 60 s", what).isTrue();
    }

    /** Waits until the loop of this connection has done what it was doing. */
    void awaitLoop() throws InterruptedException {
        var done = new CountDownLatch(1);
        transport.loop().execute(done::countDown);
        await(done, "a turn of the loop");
    }
}
