package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetriedCall;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.iscsi.pdu.Residual;
import lunar.scsi.Cdb;
import lunar.scsi.ParameterData;
import lunar.scsi.ScsiException;
import org.jspecify.annotations.Nullable;

/**
 * Sends commands to a unit and decodes its responses, as blocking calls: the only place that handles retries, lengths
 * and invalid answers.
 */
final class Calls {
    /** Carries commands to the unit. */
    @FunctionalInterface
    interface Way {
        ScsiResult send(byte[] cdb, MemorySegment in, MemorySegment out) throws StorageException;
    }

    /** Decodes data that a target has sent. */
    @FunctionalInterface
    interface Decoder<T> {
        T decode(MemorySegment bytes) throws ScsiException;
    }

    /** Computes the length of an answer from its header. */
    @FunctionalInterface
    interface Length {
        long of(MemorySegment bytes) throws ScsiException;
    }

    private static final int MAX_ASKS = 4;

    private final Way way;
    private final String name;
    private final long patienceMs;

    /**
     * @param name name of the unit, for messages
     * @param patienceMs how long a unit may be busy
     */
    Calls(Way way, String name, long patienceMs) {
        this.way = way;
        this.name = name;
        this.patienceMs = patienceMs;
    }

    String name() { return name; }

    String describe(Cdb cdb) { return cdb + " on " + name; }

    /** Sends a command once; the caller judges its status. */
    ScsiResult once(Cdb cdb, MemorySegment in, MemorySegment out) throws StorageException {
        if (in.byteSize() > Integer.MAX_VALUE || out.byteSize() > Integer.MAX_VALUE) {
            throw new InvalidRequestException(describe(cdb) + ": data of more than 2 GiB");
        }
        return way.send(cdb.bytes(), in, out);
    }

    /** Sends a command, with retries as {@link RetryPolicy} decides for one that is not idempotent. */
    ScsiResult send(Cdb cdb, MemorySegment in, MemorySegment out) throws StorageException {
        return send(cdb, in, out, false, patienceMs);
    }

    /** Sends a command without data; fails at once where the unit is busy. */
    void sendNow(Cdb cdb) throws StorageException {
        send(cdb, MemorySegment.NULL, MemorySegment.NULL, true, 0);
    }

    private ScsiResult send(Cdb cdb, MemorySegment in, MemorySegment out, boolean idempotent,
            long timeMs) throws StorageException {
        return RetriedCall.send(() -> once(cdb, in, out), idempotent, timeMs,
                () -> describe(cdb)).orThrow(describe(cdb));
    }

    /** Sends a command without data. */
    void send(Cdb cdb) throws StorageException {
        send(cdb, MemorySegment.NULL, MemorySegment.NULL);
    }

    /** Sends a command with a parameter list. */
    void send(Cdb cdb, ParameterData list) throws StorageException {
        send(cdb, MemorySegment.NULL, MemorySegment.ofArray(list.bytes()));
    }

    /** Sends a command with blocks, of which the target must take all. */
    void write(Cdb cdb, MemorySegment blocks) throws StorageException {
        ScsiResult result = send(cdb, MemorySegment.NULL, blocks);
        if (result.residual().kind() != Residual.Kind.NONE) {
            throw new MediumException(describe(cdb) + ": residual " + result.residual() + " of "
                    + blocks.byteSize() + " bytes");
        }
    }

    /** Returns the data of an answer, at most so many bytes. */
    MemorySegment ask(Cdb cdb, int maxBytes) throws StorageException {
        var data = MemorySegment.ofArray(new byte[maxBytes]);
        ScsiResult result = send(cdb, data, MemorySegment.NULL, true, patienceMs);
        return data.asSlice(0, result.dataInBytes());
    }

    /** Reads data of a known maximum length. */
    <T> T ask(Cdb cdb, int maxBytes, Decoder<T> decoder) throws StorageException {
        return decode(cdb, decoder, ask(cdb, maxBytes));
    }

    /**
     * Reads data that contain their length: at first a few bytes, then all where these were too few.
     *
     * @param cdb makes the command with an allocation length
     * @param maxBytes maximum to request; a target that reports more is not believed
     */
    <T> T ask(IntFunction<? extends Cdb> cdb, int firstBytes, int maxBytes, Length length,
            Decoder<T> decoder) throws StorageException {
        int bytes = firstBytes;
        for (int i = 0; i < MAX_ASKS; i++) {
            Cdb command = cdb.apply(bytes);
            MemorySegment data = ask(command, bytes);
            long told = decode(command, length::of, data);
            if (told <= data.byteSize()) {
                return decode(command, decoder, data.asSlice(0, told));
            }
            if (told > maxBytes || told <= bytes) {
                throw nonsense(command, told + " bytes reported, " + data.byteSize()
                        + " received, maximum " + maxBytes, null);
            }
            bytes = (int) told;
        }
        throw nonsense(cdb.apply(bytes), "the reported length keeps growing", null);
    }

    <T> T decode(Cdb cdb, Decoder<T> decoder, MemorySegment data) throws StorageException {
        try {
            return decoder.decode(data);
        } catch (ScsiException | IllegalArgumentException | IndexOutOfBoundsException e) {
            // Records reject values that do not fit into their fields; here the values are the target's.
            throw nonsense(cdb, e.getMessage(), e);
        }
    }

    MediumException nonsense(Cdb cdb, @Nullable String why, @Nullable Throwable cause) {
        return new MediumException(describe(cdb) + ": invalid response: " + why, cause);
    }
}
