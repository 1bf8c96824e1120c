package lunar.iscsi.framing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import lunar.iscsi.IscsiException;
import lunar.iscsi.pdu.Bhs;
import org.jspecify.annotations.Nullable;

/** Drives a {@link PduReader} like a transport, without a network, and records what the receiver gets. */
final class ReaderShell implements PduReceiver {
    final List<FramedPdu> received = new ArrayList<>();
    final List<FramedPdu> digestErrors = new ArrayList<>();
    int destinationsAsked;
    /** Turns that a pause had left something for. */
    int pausedTurns;
    /** Where the data of a PDU go; its own buffer is the reader's business by default. */
    IntFunction<MemorySegment> destinations = _ -> MemorySegment.NULL;
    /** Called when a PDU was noted. */
    Runnable afterReceived = () -> {};
    final PduReader reader = new PduReader(this);
    private final MemorySegment staging;
    private MemorySegment given = MemorySegment.NULL;

    ReaderShell() { this(64 * 1024); }

    ReaderShell(int stagingBytes) { staging = Arena.ofAuto().allocate(stagingBytes); }

    void feed(byte[] bytes) throws IscsiException { feed(bytes, 0, bytes.length); }

    /** Feeds one read of the network, or more if the staging buffer is short. */
    void feed(byte[] bytes, int from, int to) throws IscsiException {
        int at = from;
        while (at < to) {
            int restored = reader.restore(staging);
            ByteBuffer destination = reader.destination();
            if (destination != null) {
                int length = Math.min(destination.remaining(), to - at);
                destination.put(bytes, at, length);
                at += length;
            }
            int length = Math.min(reader.wanted((int) staging.byteSize() - restored), to - at);
            MemorySegment.copy(bytes, at, staging, ValueLayout.JAVA_BYTE, restored, length);
            at += length;
            reader.consume(staging, restored + length);
            while (reader.isHolding()) {
                staging.fill((byte) 0xee);
                pausedTurns++;
                reader.pause(false);
                reader.consume(staging, reader.restore(staging));
            }
            reader.pause(false);
            // A buffer that many connections share holds another's bytes by the next turn.
            staging.fill((byte) 0xee);
        }
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        destinationsAsked++;
        if (length != bhs.dataSegmentLength() || ahs.byteSize() != bhs.totalAhsLengthBytes()) {
            throw new AssertionError("lengths of another PDU");
        }
        given = Objects.requireNonNull(destinations.apply(length));
        return given;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) {
        if (data.byteSize() > 0 && !given.equals(MemorySegment.NULL) && !data.equals(given)) {
            throw new AssertionError("data are not where the receiver wanted them");
        }
        received.add(FramedPdu.of(bhs, ahs, data));
        afterReceived.run();
    }

    @Override
    public void dataDigestError(Bhs bhs) {
        digestErrors.add(FramedPdu.of(bhs, MemorySegment.NULL, MemorySegment.NULL));
    }

    @Override
    public void batchEnd() { throw new AssertionError("that is the transport's call"); }

    @Override
    public void closed(@Nullable IOException cause) {
        throw new AssertionError("that is the transport's call");
    }
}
