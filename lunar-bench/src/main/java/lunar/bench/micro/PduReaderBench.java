package lunar.bench.micro;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.IscsiException;
import lunar.iscsi.framing.Crc32c;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReader;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Pdu;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures reading a batch of 32 Data-In of 4 KiB: parsing and copying to the destinations. Figures are per PDU. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PduReaderBench.PDUS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PduReaderBench {
    static final int PDUS = 32;
    private static final int DATA_BYTES = 4096;
    private static final int DIGEST_BYTES = 4;
    private static final ValueLayout.OfInt WIRE = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private final Receiver receiver = new Receiver();
    private final MemorySegment plainBatch = batch(false);
    private final MemorySegment digestBatch = batch(true);
    private final PduReader plainReader = reader(false);
    private final PduReader digestReader = reader(true);

    /** Filled by the batch of each invocation. */
    public PduReaderBench() {}

    @Benchmark
    public long plain() throws IscsiException {
        plainReader.consume(plainBatch, (int) plainBatch.byteSize());
        return receiver.bytes;
    }

    @Benchmark
    public long withDigests() throws IscsiException {
        digestReader.consume(digestBatch, (int) digestBatch.byteSize());
        return receiver.bytes;
    }

    private PduReader reader(boolean digests) {
        var reader = new PduReader(receiver);
        reader.framing(new Framing(digests, digests, DATA_BYTES, 0));
        return reader;
    }

    private static MemorySegment batch(boolean digests) {
        int digestBytes = digests ? DIGEST_BYTES : 0;
        int pduBytes = Bhs.LENGTH + DATA_BYTES + 2 * digestBytes;
        MemorySegment batch = Arena.ofAuto().allocate((long) PDUS * pduBytes, 64);
        for (int i = 0; i < PDUS; i++) {
            long at = (long) i * pduBytes;
            new Bhs().wrap(batch, at).start(DataIn.OPCODE, false, 0).lengths(0, DATA_BYTES)
                    .int32(Pdu.ITT, i);
            long dataAt = at + Bhs.LENGTH + digestBytes;
            if (digests) {
                batch.set(WIRE, at + Bhs.LENGTH, Crc32c.of(batch.asSlice(at, Bhs.LENGTH)));
                batch.set(WIRE, dataAt + DATA_BYTES, Crc32c.of(batch.asSlice(dataAt, DATA_BYTES)));
            }
        }
        return batch;
    }

    /** Puts each task's data where they belong, as an initiator does. */
    private static final class Receiver implements PduReceiver {
        private final MemorySegment[] destinations = new MemorySegment[PDUS];
        private long bytes;

        Receiver() {
            for (int i = 0; i < PDUS; i++) {
                destinations[i] = Arena.ofAuto().allocate(DATA_BYTES, 64);
            }
        }

        @Override
        public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
            return destinations[bhs.itt()];
        }

        @Override
        public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) {
            bytes += data.byteSize();
        }

        @Override
        public void dataDigestError(Bhs bhs) { throw new IllegalStateException("digest"); }

        @Override
        public void batchEnd() { throw new IllegalStateException("the shell calls it"); }

        @Override
        public void closed(@Nullable IOException cause) {
            throw new IllegalStateException("the shell calls it");
        }
    }
}
