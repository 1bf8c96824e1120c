package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.DirectMemory;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.Transport.Release;
import lunar.testkit.CompilerPatience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Counts the allocations of the threads of two loops while PDUs are exchanged. */
class AllocationTest {
    private static final int DEPTH = 16;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Allocation allowance of a run of any length: arrays that grow, a garbage collection that drops views. */
    private static final long CONSTANT_BYTES = 16 * 1024;

    /** Answers each PDU by another one, from and into its own memory. */
    private static final class End implements PduReceiver {
        final Transport transport;
        final CountDownLatch closed = new CountDownLatch(1);
        private final MemorySegment header = Arena.ofAuto().allocate(Bhs.LENGTH, 8);
        private final Bhs bhs = new Bhs().wrap(header);
        private final MemorySegment[] sources = new MemorySegment[DEPTH];
        private final MemorySegment[] destinations = new MemorySegment[DEPTH];
        private int received;
        /** PDUs still to be sent; the end that only answers has no end of them. */
        private long left = Long.MAX_VALUE;
        private @Nullable CountDownLatch done;
        private int sent;
        private int wrong;

        End(Transport transport, int sendBytes, int receiveBytes) {
            this.transport = transport;
            for (int i = 0; i < DEPTH; i++) {
                sources[i] = DirectMemory.allocate(sendBytes, 512).fill((byte) (i + 1));
                destinations[i] = Arena.ofAuto().allocate(receiveBytes, 8);
            }
        }

        /** On the loop's thread. */
        void begin(int count, CountDownLatch whenDone) {
            sent = 0;
            received = 0;
            left = count;
            done = whenDone;
            for (int i = 0; i < DEPTH; i++) {
                send(i);
            }
            transport.flush();
        }

        private void send(int tag) {
            MemorySegment data = sources[tag];
            if (left > 0) {
                left--;
                sent++;
                bhs.start(0, false, 0).lengths(0, (int) data.byteSize()).int32(16, tag);
                transport.send(header, data, Release.NOTHING);
            }
        }

        @Override
        public MemorySegment dataDestination(Bhs of, MemorySegment ahs, int length) {
            return destinations[of.itt()];
        }

        @Override
        public void received(Bhs of, MemorySegment ahs, MemorySegment data) {
            int tag = of.itt();
            long length = data.byteSize();
            if (length != destinations[tag].byteSize() || length > 0
                    && data.get(ValueLayout.JAVA_BYTE, length - 1) != tag + 1) {
                wrong++;
            }
            received++;
            send(tag);
            CountDownLatch latch = done;
            if (left == 0 && received == sent && latch != null) {
                latch.countDown();
            }
        }

        @Override
        public void dataDigestError(Bhs of) throws ProtocolException {
            throw new ProtocolException("data digest");
        }

        @Override
        public void batchEnd() { transport.flush(); }

        @Override
        public void closed(@Nullable IOException cause) { closed.countDown(); }

        long allocated() throws Exception { return THREADS.getThreadAllocatedBytes(thread()); }

        private long thread() throws Exception {
            EventLoop loop = transport.loop();
            var id = new CompletableFuture<Long>();
            loop.execute(() -> id.complete(Thread.currentThread().threadId()));
            return id.get(60, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest(name = "{0} bytes there, {1} back, digests {2}")
    @CsvSource({"0,0,false,40000", "0,0,true,40000",
            "0,4096,false,40000", "0,4096,true,40000",
            "4095,0,false,40000", "4095,0,true,40000",
            "0,65536,false,20000", "0,65535,true,20000",
            "262144,0,false,4000", "262142,0,true,4000"})
    void shouldAllocateNothingForAPdu(int there, int back, boolean digests, int pdus)
            throws Exception {
        var framing = new Framing(digests, digests, 1 << 20, 0);
        var accepted = new LinkedBlockingQueue<End>();
        var connected = new LinkedBlockingQueue<End>();
        try (var loops = new TcpLoops("allocation", LoopOptions.of(2));
                var listener = loops.listen(Endpoint.ANY_PORT, transport -> {
                    transport.framing(framing);
                    var end = new End(transport, back, there);
                    accepted.add(end);
                    return end;
                })) {
            Transport _ = loops.connect(listener.local(), 60_000, transport -> {
                transport.framing(framing);
                var end = new End(transport, there, back);
                connected.add(end);
                return end;
            });
            End client = connected.remove();
            End server = accepted.poll(60, TimeUnit.SECONDS);
            assertThat(server).isNotNull();
            run(client, Math.min(pdus, 30_000)); // until the compiler has seen it all
            run(client, Math.min(pdus, 30_000));
            long asking = Long.MAX_VALUE;
            long answering = Long.MAX_VALUE;
            var patience = new CompilerPatience();
            while (Math.max(asking, answering) >= CONSTANT_BYTES && patience.lasts()) {
                long clientBefore = client.allocated();
                long serverBefore = server.allocated();
                run(client, pdus);
                asking = client.allocated() - clientBefore;
                answering = server.allocated() - serverBefore;
            }
            assertThat(asking).as("bytes of the asking end").isLessThan(CONSTANT_BYTES);
            assertThat(answering).as("bytes of the answering end").isLessThan(CONSTANT_BYTES);
            assertThat(client.wrong + server.wrong).as("PDUs with other data").isZero();
            assertThat(client.closed.getCount() + server.closed.getCount()).isEqualTo(2);
        }
    }

    private static void run(End client, int pdus) throws Exception {
        var done = new CountDownLatch(1);
        client.transport.loop().execute(() -> client.begin(pdus, done));
        assertThat(done.await(300, TimeUnit.SECONDS)).as("PDUs within 300 s").isTrue();
    }
}
