package lunar.osd.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SeekableByteChannel;
import java.util.List;
import lunar.block.MediumException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.data.MapType;
import lunar.osd.wire.data.ObjectMap;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * A handle of a user object: data of any length, and attributes. Data that are written past the end make it longer; a
 * gap reads as zeros.
 */
public final class UserObject extends OsdObject {
    private static final int MAP_BYTES = 64 << 10;
    private static final int NUMBER_BYTES = 8;

    UserObject(OsdCalls calls, ObjectId id) { super(calls, id); }

    // --- data ---

    /** Returns the logical length in bytes. */
    public long length() throws IOException {
        return number(UserObjectAttribute.LOGICAL_LENGTH).orElseThrow(
                () -> new MediumException(id() + " on " + calls().name()
                        + ": invalid response: the object has no length"));
    }

    /**
     * Reads. Transfers longer than {@link OsdOptions#transferBytes()} take several commands, between which other
     * clients may write.
     *
     * @param into buffer to fill; bytes behind those that were read have undefined content
     * @return bytes that were read: fewer than asked for at the end of the object, 0 behind it
     */
    public long read(long offset, MemorySegment into) throws IOException {
        return read(offset, into, RequestOptions.NONE).value();
    }

    /** Reads; see {@link #read(long, MemorySegment)}. The last of several commands has the attributes. */
    public Reply<Long> read(long offset, MemorySegment into, RequestOptions options)
            throws IOException {
        requireOffset(offset);
        return new Transfers(calls()).read(id(), offset, into, options);
    }

    /**
     * Writes. Transfers longer than {@link OsdOptions#transferBytes()} take several commands; after a failure any part
     * may have been written.
     *
     * @throws QuotaExceededException if the object would become too long
     */
    public void write(long offset, MemorySegment from) throws IOException {
        var _ = write(offset, from, RequestOptions.NONE);
    }

    /** Writes; see {@link #write(long, MemorySegment)}. The last of several commands has the attributes. */
    public Reply<UserObject> write(long offset, MemorySegment from, RequestOptions options)
            throws IOException {
        requireOffset(offset);
        return new Transfers(calls()).write(id(), offset, from, options).map(_ -> this);
    }

    /**
     * Writes behind the end, with one command: appends of several clients do not mix. It is never sent again after a
     * failure that leaves open whether it was executed.
     *
     * @param from at most {@link OsdOptions#transferBytes()} bytes
     * @return offset of the first byte that was written
     */
    public long append(MemorySegment from) throws IOException {
        return append(from, RequestOptions.NONE).value();
    }

    /** Writes behind the end; see {@link #append(MemorySegment)}. */
    public Reply<Long> append(MemorySegment from, RequestOptions options) throws IOException {
        if (from.byteSize() > calls().options().transferBytes()) {
            throw new IllegalArgumentException("an append is one command of at most "
                    + calls().options().transferBytes() + " bytes, not " + from.byteSize()
                    + "; see OsdOptions.transferBytes");
        }
        Reply<Long> reply = calls().execute(Transfers.range(ServiceAction.APPEND, id(),
                from.byteSize(), 0,
                options.gettingFirst(CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS))
                .writing(from));
        long offset = OsdCalls.number(reply.attributes(),
                CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS)
                .orElseThrow(() -> new MediumException(id() + " on " + calls().name()
                        + ": invalid response: data were appended without telling where"));
        return reply.map(_ -> offset);
    }

    /** Makes a range read as zeros; the object becomes longer if the range ends behind it. */
    public void clear(long offset, long length) throws IOException {
        var _ = clear(offset, length, RequestOptions.NONE);
    }

    /** Makes a range read as zeros; see {@link #clear(long, long)}. */
    public Reply<UserObject> clear(long offset, long length, RequestOptions options)
            throws IOException {
        return range(ServiceAction.CLEAR, offset, length, options);
    }

    /** Cuts a range out: what is behind it moves down. A range that ends behind the object truncates it. */
    public void punch(long offset, long length) throws IOException {
        var _ = punch(offset, length, RequestOptions.NONE);
    }

    /** Cuts a range out; see {@link #punch(long, long)}. */
    public Reply<UserObject> punch(long offset, long length, RequestOptions options)
            throws IOException {
        return range(ServiceAction.PUNCH, offset, length, options);
    }

    private Reply<UserObject> range(ServiceAction action, long offset, long length,
            RequestOptions options) throws IOException {
        requireOffset(offset);
        return calls().execute(Transfers.range(action, id(), length, offset, options))
                .map(_ -> this);
    }

    /** Sets the length: drops what is behind it, or adds zeros. */
    public void truncate(long length) throws IOException {
        requireOffset(length);
        set(UserObjectAttribute.LOGICAL_LENGTH.id(), number(length));
    }

    /** Makes data and attributes stable. */
    public void flush() throws IOException {
        flush(FlushScope.DATA_AND_ATTRIBUTES, 0, 0);
    }

    /** Makes the attributes and a range of the data stable. */
    public void flush(long offset, long length) throws IOException {
        requireOffset(offset);
        flush(FlushScope.RANGE_AND_ATTRIBUTES, offset, length);
    }

    private void flush(FlushScope scope, long offset, long length) throws IOException {
        var _ = calls().execute(OsdCommand.of(ServiceAction.FLUSH, RequestOptions.NONE,
                common -> new FlushCommand(ServiceAction.FLUSH, common, id(), scope, length,
                        offset, 0)));
    }

    /**
     * Returns written ranges and holes from an offset on: as many as fit into one answer of the device.
     *
     * @param type {@link MapType#ALL} or which ranges
     */
    public List<ObjectMap.Range> map(long offset, MapType type) throws IOException {
        requireOffset(offset);
        var buffer = MemorySegment.ofArray(new byte[MAP_BYTES]);
        long received = calls().execute(OsdCommand.of(ServiceAction.READ_MAP, RequestOptions.NONE,
                common -> new ReadMapCommand(common, id(), MAP_BYTES, offset, type.code()))
                .reading(buffer)).value();
        return calls().decode(ServiceAction.READ_MAP + " of " + id(), ObjectMap::decode,
                buffer.asSlice(0, received)).ranges();
    }

    /** Removes the object. */
    public void remove() throws IOException {
        var _ = remove(RequestOptions.NONE);
    }

    /** Removes the object; attributes are got before. */
    public Reply<UserObject> remove(RequestOptions options) throws IOException {
        return calls().execute(OsdCommand.of(ServiceAction.REMOVE, options,
                common -> new RemoveCommand(ServiceAction.REMOVE, common, id(), false, 0)))
                .map(_ -> this);
    }

    private static void requireOffset(long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("negative offset or length: " + offset);
        }
    }

    private static Bytes number(long value) {
        byte[] array = new byte[NUMBER_BYTES];
        BigEndian.int64(MemorySegment.ofArray(array), 0, value);
        return Bytes.of(array);
    }

    // --- streams ---

    /**
     * Opens a stream of the data up to the end that the object has now. It reads ahead, with
     * {@link OsdOptions#depth()} commands in flight. Closing it waits for these.
     */
    public InputStream openInput() throws IOException { return openInput(0); }

    /** Opens a stream of the data from an offset on; see {@link #openInput()}. */
    public InputStream openInput(long offset) throws IOException {
        requireOffset(offset);
        return new ObjectInput(calls(), id(), offset, length());
    }

    /**
     * Opens a stream of a range; nothing behind it is read. It ends where the object ends, if that is earlier. Sends
     * nothing itself: whether the object exists shows when the stream is read.
     */
    public InputStream openInput(long offset, long length) {
        requireOffset(offset);
        requireOffset(length);
        return new ObjectInput(calls(), id(), offset,
                length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length);
    }

    /**
     * Opens a stream that replaces the data: drops them at once, then writes, with {@link OsdOptions#depth()} commands
     * in flight. A failure is thrown by a later call, at the latest by {@code flush} or {@code close}, which wait for
     * all writes; neither makes them stable, which {@link #flush()} of the object does.
     */
    public OutputStream openOutput() throws IOException {
        truncate(0);
        return new ObjectOutput(calls(), id(), 0);
    }

    /** Opens a stream that writes from an offset on; what is behind it stays. See {@link #openOutput()}. */
    public OutputStream openOutput(long offset) throws IOException {
        requireOffset(offset);
        return new ObjectOutput(calls(), id(), offset);
    }

    /** Opens a channel to read and write at any position, with a command for each call. */
    public SeekableByteChannel openChannel() {
        return new ObjectChannel(this);
    }

    // --- collections ---

    /** Returns the collections that the object is a member of. */
    public List<CollectionObject> collections() throws IOException {
        return Membership.of(this).stream().map(Attribute::value)
                .map(value -> new CollectionObject(calls(),
                        new ObjectId(id().partition(), BigEndian.int64(value.segment(), 0))))
                .toList();
    }
}
