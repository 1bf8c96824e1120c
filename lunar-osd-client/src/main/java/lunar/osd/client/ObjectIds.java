package lunar.osd.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import lunar.block.MediumException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.data.ListHeader;
import lunar.osd.wire.data.ObjectAttributesList;
import lunar.osd.wire.data.ObjectList;
import lunar.scsi.MalformedDataException;

/**
 * Identifiers, with attributes or without, that LIST or LIST COLLECTION returns, requested part by part as they are
 * consumed.
 */
final class ObjectIds extends Spliterators.AbstractSpliterator<Reply<Long>> {
    private static final int PART_BYTES = 64 << 10;
    private static final int PART_BYTES_WITH_ATTRIBUTES = 512 << 10;
    private static final int ID_BYTES = 8;
    /** Most bytes of an identifier with attributes. */
    private static final int ENTRY_BYTES = 16 + 0xffff;

    /** A part of a list. */
    private record Part(ListHeader header, List<Reply<Long>> entries) {
        static Part ofIds(ObjectList list) {
            return new Part(list.header(), list.ids().stream().map(Reply::of).toList());
        }

        static Part ofObjects(ObjectAttributesList list) {
            return new Part(list.header(), list.objects().stream()
                    .map(each -> new Reply<>(each.id(), each.attributes())).toList());
        }
    }

    private final OsdCalls calls;
    private final ServiceAction action;
    private final ObjectId container;
    private final RequestOptions options;
    private final boolean withAttributes;
    private final int partBytes;
    private final Deque<Reply<Long>> entries = new ArrayDeque<>();
    private long nextId;
    private long listIdentifier;
    private boolean complete;

    private ObjectIds(OsdCalls calls, ServiceAction action, ObjectId container, long from,
            List<AttributeId> attributes) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.calls = calls;
        this.action = action;
        this.container = container;
        nextId = from;
        options = RequestOptions.NONE.get(attributes.toArray(AttributeId[]::new));
        withAttributes = !attributes.isEmpty();
        partBytes = withAttributes ? PART_BYTES_WITH_ATTRIBUTES : PART_BYTES;
    }

    /** Lists all identifiers; the first part at once, the others when they are needed. */
    static Stream<Long> of(OsdCalls calls, ServiceAction action, ObjectId container)
            throws IOException {
        return of(calls, action, container, 0, List.of()).map(Reply::value);
    }

    /**
     * Lists identifiers with attributes.
     *
     * @param from smallest identifier
     */
    static Stream<Reply<Long>> of(OsdCalls calls, ServiceAction action, ObjectId container,
            long from, List<AttributeId> attributes) throws IOException {
        var list = new ObjectIds(calls, action, container, from, attributes);
        list.request();
        return StreamSupport.stream(list, false);
    }

    @Override
    public boolean tryAdvance(Consumer<? super Reply<Long>> consumer) {
        try {
            while (entries.isEmpty() && !complete) {
                request();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (entries.isEmpty()) {
            return false;
        }
        consumer.accept(entries.remove());
        return true;
    }

    private void request() throws IOException {
        var buffer = MemorySegment.ofArray(new byte[partBytes]);
        long received = calls.executeWithoutRetrieval(OsdCommand.of(action, options,
                common -> new ListCommand(action, common, container, partBytes, nextId,
                        listIdentifier, withAttributes))
                .reading(buffer));
        String what = action + " of " + container + " on " + calls.name();
        Part part = calls.decode(what, this::part, buffer.asSlice(0, received));
        entries.addAll(part.entries());
        long continuation = part.header().continuationId();
        complete = continuation == 0 && !isTruncated(part, received);
        if (complete) {
            return;
        }
        long next = continuation == 0
                ? part.entries().getLast().value() + 1
                : continuation;
        if (Long.compareUnsigned(next, nextId) <= 0) {
            throw new MediumException(what + ": invalid response: the list goes on with "
                    + Long.toHexString(next) + "h, after " + Long.toHexString(nextId) + "h");
        }
        nextId = next;
        listIdentifier = continuation == 0 ? 0 : part.header().listIdentifier();
    }

    private Part part(MemorySegment bytes) throws MalformedDataException {
        return withAttributes
                ? Part.ofObjects(ObjectAttributesList.decode(bytes, action))
                : Part.ofIds(ObjectList.decode(bytes, OsdVersion.OSD_2, action));
    }

    /** Whether a part without a continuation lacks entries, because they did not fit. */
    private boolean isTruncated(Part part, long received) {
        int entryBytes = withAttributes ? ENTRY_BYTES : ID_BYTES;
        return !part.entries().isEmpty() && received + entryBytes > partBytes
                && Long.compareUnsigned(part.header().additionalLength() + ID_BYTES, received) > 0;
    }
}
