package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data of COPY STATUS (LID4), RECEIVE COPY DATA (LID4) and RECEIVE ROD TOKEN INFORMATION about a copy operation (SPC-5
 * sections 6.22 to 6.24, SBC-4 section 5.25). They differ in the fields after the sense data.
 *
 * <pre>
 * 0 available data   4 service action of the operation   5 status   6 operation counter   8 ms until the next change
 * 12 status of the command   13 length of the sense data field   14 length of sense data   15 transfer count units
 * 16 transfer count   24 segments processed   32 sense data
 * </pre>
 *
 * @param tail what follows the sense data
 * @param serviceAction of the command that began the operation
 * @param state COPY OPERATION STATUS
 * @param counter OPERATION COUNTER
 * @param updateDelayMs ESTIMATED STATUS UPDATE DELAY
 * @param completionStatus status code with which the operation ended
 * @param units TRANSFER COUNT UNITS
 * @param transferCount TRANSFER COUNT
 * @param segments SEGMENTS PROCESSED
 * @param sense sense data in fixed format
 * @param token the ROD token of POPULATE TOKEN, 512 bytes
 */
public record CopyOperationInformation(Tail tail, int serviceAction, State state, int counter,
        long updateDelayMs, int completionStatus, int units, long transferCount, int segments,
        Bytes sense, Optional<Bytes> token) implements ParameterData {
    /** Fields after the sense data. */
    public enum Tail {
        NOTHING,
        /** A length of held data, which is 0. */
        HELD_DATA,
        /** A length of ROD token descriptors, and one where there is a token. */
        ROD_TOKEN
    }

    /** COPY OPERATION STATUS. */
    public enum State {
        SUCCEEDED(0x01), FAILED(0x02), IN_FOREGROUND(0x11), IN_BACKGROUND(0x12), TERMINATED(0x60);

        private final int code;

        State(int code) { this.code = code; }

        static State of(int code) throws MalformedDataException {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            throw new MalformedDataException("copy operation status " + code);
        }
    }

    /** TRANSFER COUNT UNITS: bytes. */
    public static final int IN_BYTES = 0x00;
    /** TRANSFER COUNT UNITS: logical blocks. */
    public static final int IN_BLOCKS = 0xf1;

    private static final int HEADER_LENGTH = 32;
    private static final int TOKEN_PREFIX = 2;

    public CopyOperationInformation {
        CdbFields.check("serviceAction", serviceAction, 0x1f);
        CdbFields.check("counter", counter, 0xffff);
        CdbFields.check("updateDelayMs", updateDelayMs, 0xffff_ffffL);
        CdbFields.check("length of sense data", sense.length(), 0xff);
    }

    /** Reads the data, whole. */
    public static CopyOperationInformation decode(MemorySegment bytes, Tail tail)
            throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH
                || bytes.byteSize() - HEADER_LENGTH < BigEndian.int8(bytes, 13)
                || BigEndian.int8(bytes, 14) > BigEndian.int8(bytes, 13)) {
            throw new MalformedDataException(
                    "information on a copy operation of " + bytes.byteSize() + " bytes");
        }
        int rest = HEADER_LENGTH + BigEndian.int8(bytes, 13);
        Optional<Bytes> token = Optional.empty();
        if (tail == Tail.ROD_TOKEN && bytes.byteSize() - rest >= 4) {
            long length = BigEndian.int32(bytes, rest);
            if (length > TOKEN_PREFIX && bytes.byteSize() - rest - 4 >= length) {
                token = Optional.of(Bytes.of(
                        bytes.asSlice(rest + 4 + TOKEN_PREFIX, length - TOKEN_PREFIX)));
            }
        }
        return new CopyOperationInformation(tail, BigEndian.int8(bytes, 4) & 0x1f,
                State.of(BigEndian.int8(bytes, 5) & 0x7f), BigEndian.int16(bytes, 6),
                BigEndian.int32(bytes, 8), BigEndian.int8(bytes, 12), BigEndian.int8(bytes, 15),
                BigEndian.int64(bytes, 16), BigEndian.int16(bytes, 24),
                Bytes.of(bytes.asSlice(HEADER_LENGTH, BigEndian.int8(bytes, 14))), token);
    }

    @Override
    public byte[] bytes() {
        int tokenBytes = token.map(it -> TOKEN_PREFIX + it.length()).orElse(0);
        int rest = HEADER_LENGTH + sense.length();
        byte[] array = new byte[rest + (tail == Tail.NOTHING ? 0 : 4) + tokenBytes];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, array.length - 4);
        BigEndian.int8(bytes, 4, serviceAction);
        BigEndian.int8(bytes, 5, state.code);
        BigEndian.int16(bytes, 6, counter);
        BigEndian.int32(bytes, 8, updateDelayMs);
        BigEndian.int8(bytes, 12, completionStatus);
        BigEndian.int8(bytes, 13, sense.length());
        BigEndian.int8(bytes, 14, sense.length());
        BigEndian.int8(bytes, 15, units);
        BigEndian.int64(bytes, 16, transferCount);
        BigEndian.int16(bytes, 24, segments);
        MemorySegment.copy(sense.segment(), 0, bytes, HEADER_LENGTH, sense.length());
        if (tail != Tail.NOTHING) {
            BigEndian.int32(bytes, rest, tokenBytes);
        }
        token.ifPresent(it -> MemorySegment.copy(it.segment(), 0, bytes, rest + 4 + TOKEN_PREFIX,
                it.length()));
        return array;
    }
}
