package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.data.ContinuationDescriptor;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.QueryList;
import lunar.scsi.InvalidParameterListException;

/**
 * Data-out of a command, taken apart: a CDB continuation segment, the data behind it, and attribute lists where the CDB
 * says. The parts are all there and do not overlap.
 */
final class DataOut {
    private final MemorySegment bytes;
    private final List<ContinuationDescriptor> continuation;
    private final List<ScatterGather.Extent> extents;
    private final BufferPart data;

    private DataOut(MemorySegment bytes, List<ContinuationDescriptor> continuation,
            List<ScatterGather.Extent> extents, BufferPart data) {
        this.bytes = bytes;
        this.continuation = continuation;
        this.extents = extents;
        this.data = data;
    }

    /**
     * Takes data-out apart; the lists in it are decoded later.
     *
     * @param integrity where it has integrity information
     * @throws InvalidParameterListException 1Ah/00h for a part that is not there, 26h/00h for an error in the
     *         continuation segment
     * @throws RefusedException 24h/00h for parts that overlap
     */
    static DataOut of(OsdCdb command, MemorySegment bytes, BufferPart integrity)
            throws InvalidParameterListException, RefusedException {
        List<ContinuationDescriptor> continuation = continuation(command, bytes);
        List<ScatterGather.Extent> extents = command instanceof ByteRangeCommand range
                ? extents(range, continuation)
                : List.of();
        long length = 0;
        for (ScatterGather.Extent extent : extents) {
            length += extent.length();
        }
        var parts = new Parts(bytes.byteSize());
        parts.add(0, command.continuationLength(), CdbFieldAt.CONTINUATION);
        var data = command.hasDataOut() && length > 0
                ? new BufferPart(command.continuationLength(), length)
                : BufferPart.NONE;
        parts.add(data.offset(), data.length(), CdbFieldAt.length(command));
        switch (command.common().attributes()) {
            case FieldParameters _ -> {
            }
            case ListParameters list -> {
                parts.add(list.setList(), CdbFieldAt.SET_LIST_OFFSET);
                parts.add(list.getList(), CdbFieldAt.GET_LIST_OFFSET);
            }
            case PageParameters page -> parts.add(page.setValue(), CdbFieldAt.PAGE_SET_OFFSET);
        }
        parts.add(integrity, CdbFieldAt.dataOutIntegrity(command));
        return new DataOut(bytes, continuation, extents, data);
    }

    private static List<ContinuationDescriptor> continuation(OsdCdb command, MemorySegment bytes)
            throws InvalidParameterListException {
        long length = command.continuationLength();
        if (length == 0) {
            return List.of();
        }
        if (length > bytes.byteSize()) {
            throw InvalidParameterListException.length();
        }
        return ContinuationSegment.decode(bytes.asSlice(0, length), command.action())
                .descriptors();
    }

    /**
     * The ranges of the object, which have places in the data one behind the other. The sum of a scatter/gather list
     * may be less than the length in the CDB, which is what the initiator has room for. Commands that transfer no data,
     * or append them, take their range from the CDB alone: a list that they ignored would hide it from the security.
     */
    private static List<ScatterGather.Extent> extents(ByteRangeCommand command,
            List<ContinuationDescriptor> continuation)
            throws InvalidParameterListException, RefusedException {
        var lists = continuation.stream().filter(ScatterGather.class::isInstance)
                .map(ScatterGather.class::cast).toList();
        if (lists.isEmpty()) {
            return List.of(
                    new ScatterGather.Extent(command.startByte(), command.byteCount()));
        }
        switch (command.action()) {
            case READ, WRITE, CREATE_AND_WRITE -> {
            }
            default ->
                throw InvalidParameterListException.field(ContinuationSegment.HEADER_LENGTH);
        }
        var extents = new ArrayList<ScatterGather.Extent>();
        long left = command.byteCount();
        for (ScatterGather list : lists) {
            for (ScatterGather.Extent extent : list.extents()) {
                long offset = command.startByte() + extent.offset();
                boolean fits = extent.length() >= 0 && extent.length() <= left
                        && extent.offset() >= 0 && offset >= 0 && offset + extent.length() >= 0;
                if (!fits) {
                    throw InvalidParameterListException.field(ContinuationSegment.HEADER_LENGTH);
                }
                left -= extent.length();
                extents.add(new ScatterGather.Extent(offset, extent.length()));
            }
        }
        return extents;
    }

    /** Parts of data-out. */
    private static final class Parts {
        private final long size;
        private final List<BufferPart> parts = new ArrayList<>();

        Parts(long size) { this.size = size; }

        void add(BufferPart part, int fieldAt)
                throws InvalidParameterListException, RefusedException {
            add(part.offset(), part.length(), fieldAt);
        }

        void add(long offset, long length, int fieldAt)
                throws InvalidParameterListException, RefusedException {
            if (length == 0) {
                return;
            }
            if (length > size || offset > size - length) {
                throw InvalidParameterListException.length();
            }
            for (BufferPart other : parts) {
                if (offset < other.end() && other.offset() < offset + length) {
                    throw RefusedException.field(fieldAt);
                }
            }
            parts.add(new BufferPart(offset, length));
        }
    }

    /** Returns the bytes of a part. */
    MemorySegment bytes(BufferPart part) {
        return part.isEmpty() ? MemorySegment.NULL : bytes.asSlice(part.offset(), part.length());
    }

    /** Returns all bytes. */
    MemorySegment bytes() { return bytes; }

    /** Returns where the data of the command itself are. */
    BufferPart dataPart() { return data; }

    /** Returns the data of the command itself. */
    MemorySegment data() { return bytes(data); }

    /** Returns the ranges of the object that the data belong to, in their order in the data. */
    List<ScatterGather.Extent> extents() {
        return extents;
    }

    /** Returns the bytes of all ranges. */
    long extentBytes() {
        return extents.stream().mapToLong(ScatterGather.Extent::length).sum();
    }

    /** Returns the query list of QUERY. */
    List<QueryList> queryLists() {
        return continuation.stream().filter(QueryList.class::isInstance)
                .map(QueryList.class::cast).toList();
    }

    /** Returns the attributes that a QUERY compares. */
    List<AttributeId> comparedAttributes() {
        return queryLists().stream().flatMap(list -> list.criteria().stream())
                .map(QueryList.Criterion::id).toList();
    }
}
