package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.testkit.pipe.PlacingPipeTransportProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the end of a connection within this process whose other end is slow. */
@Timeout(180)
class PipeCloseTest {
    private static final int BYTES = 1000;

    /** Receives PDUs; completes what it is told. */
    private static final class Receiver implements PduReceiver {
        private final CompletableFuture<Integer> sum = new CompletableFuture<>();
        private final CompletableFuture<Boolean> closed = new CompletableFuture<>();

        @Override
        public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
            return MemorySegment.NULL;
        }

        @Override
        public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) {
            sum.complete(data.toArray(ValueLayout.JAVA_BYTE)[BYTES - 1]
                    + (int) data.byteSize());
        }

        @Override
        public void dataDigestError(Bhs bhs) {}

        @Override
        public void batchEnd() {}

        @Override
        public void closed(@Nullable IOException cause) { closed.complete(cause == null); }
    }

    @Test
    void shouldReleaseUndeliveredDataBeforeItsLoopEnds() throws Exception {
        var provider = new PlacingPipeTransportProvider();
        var at = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        var far = new CompletableFuture<Transport>();
        var farReceiver = new Receiver();
        var nearReceiver = new Receiver();
        var released = new CompletableFuture<Boolean>();
        var busy = new CountDownLatch(1);
        try (var near = provider.start("near", LoopOptions.of(1))) {
            try (var server = provider.start("far", LoopOptions.of(1));
                    var listener = server.listen(at, transport -> {
                        far.complete(transport);
                        return farReceiver;
                    })) {
                Transport initiator = near.connect(listener.local(), 10_000, _ -> nearReceiver);
                Transport target = far.get(60, TimeUnit.SECONDS);
                initiator.loop().execute(() -> awaitUninterruptibly(busy));
                MemorySegment data = MemorySegment.ofArray(new byte[BYTES]);
                data.fill((byte) 7);
                MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH]);
                var bhs = new Bhs().wrap(header);
                bhs.start(NopIn.OPCODE, false, 0x80).lengths(0, BYTES);
                target.send(header, data, () -> released.complete(true));
                target.flush();
                target.close();
                assertThat(farReceiver.closed.get(60, TimeUnit.SECONDS)).isTrue();
                assertThat(released).as("its memory is released").isCompletedWithValue(true);
                data.fill((byte) 0); // its owner uses it for something else
            }
            busy.countDown();
            assertThat(nearReceiver.sum.get(60, TimeUnit.SECONDS)).isEqualTo(BYTES + 7);
            assertThat(nearReceiver.closed.get(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            busy.countDown();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
