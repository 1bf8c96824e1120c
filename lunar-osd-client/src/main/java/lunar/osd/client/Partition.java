package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;

/** A handle of a partition: user objects and collections, which share the identifiers of their partition. */
public final class Partition extends OsdObject {
    private static final int MAX_CREATED = 0xffff;

    Partition(OsdCalls calls, long id) { super(calls, ObjectId.ofPartition(id)); }

    private long number() { return id().partition(); }

    private ObjectId objectId(long object) { return new ObjectId(number(), object); }

    // --- user objects ---

    /** Returns a handle of a user object, which need not exist. */
    public UserObject object(long id) {
        return new UserObject(calls(), objectId(id));
    }

    /**
     * Returns the user objects by ascending identifiers, without holding them all in memory. Long lists take several
     * commands; a failure of a later one throws {@link java.io.UncheckedIOException} from the stream.
     */
    public Stream<UserObject> objects() throws IOException {
        return ObjectIds.of(calls(), ServiceAction.LIST, id())
                .map(this::object);
    }

    /**
     * Returns user objects with attributes, by ascending identifiers, with one command for many; see
     * {@link #objects()}.
     *
     * @param from smallest identifier; 0 for all
     * @param attributes attributes of each object, at least one; together at most 64 KiB
     */
    public Stream<Reply<UserObject>> objects(long from, AttributeId... attributes)
            throws IOException {
        return ObjectIds.of(calls(), ServiceAction.LIST, id(), from, List.of(attributes))
                .map(each -> each.map(this::object));
    }

    /** Creates an empty user object whose identifier the device chooses. */
    public UserObject create() throws IOException {
        return create(RequestOptions.NONE).value();
    }

    /**
     * Creates an empty user object.
     *
     * @param id at least {@link ObjectId#FIRST}
     * @throws ObjectExistsException if a user object or a collection has this identifier
     */
    public UserObject create(long id) throws IOException {
        return create(id, RequestOptions.NONE).value();
    }

    /** Creates an empty user object whose identifier the device chooses, with its attributes at once. */
    public Reply<UserObject> create(RequestOptions options) throws IOException {
        Reply<Long> reply = calls().execute(createCommand(0, 1,
                options.gettingFirst(CurrentCommandAttribute.OBJECT_ID)));
        return new Reply<>(object(Created.object(reply, calls())), reply.attributes());
    }

    /** Creates an empty user object with its attributes at once; see {@link #create(long)}. */
    public Reply<UserObject> create(long id, RequestOptions options) throws IOException {
        Created.check(id);
        return calls().execute(createCommand(id, 1, options)).map(_ -> object(id));
    }

    /**
     * Creates several empty user objects with consecutive identifiers, which the device chooses.
     *
     * @param count from 1 to 65535; a device may have a lower limit, such as 4096
     * @param options attributes to set, for each object, and options; attributes to get are not got
     */
    public List<UserObject> createMany(int count, RequestOptions options) throws IOException {
        if (count < 1 || count > MAX_CREATED) {
            throw new IllegalArgumentException("1 to " + MAX_CREATED + " objects, not " + count);
        }
        return calls().createMany(createCommand(0, count,
                options.withoutGets().gettingFirst(CurrentCommandAttribute.OBJECT_ID)), count)
                .stream().map(this::object).toList();
    }

    private OsdCommand createCommand(long id, int count, RequestOptions options) {
        return OsdCommand.of(ServiceAction.CREATE, options,
                common -> new CreateCommand(common, objectId(id), count, 0));
    }

    /** Creates a user object with data; the device chooses its identifier.. */
    public UserObject createAndWrite(MemorySegment data) throws IOException {
        return createAndWrite(data, RequestOptions.NONE).value();
    }

    /** Creates a user object with data and attributes; the device chooses its identifier. */
    public Reply<UserObject> createAndWrite(MemorySegment data, RequestOptions options)
            throws IOException {
        Reply<Long> reply = calls().execute(createAndWriteCommand(0, data,
                options.gettingFirst(CurrentCommandAttribute.OBJECT_ID)));
        UserObject created = object(Created.object(reply, calls()));
        writeRest(created, data, options);
        return new Reply<>(created, reply.attributes());
    }

    /**
     * Creates a user object with data and attributes. The attributes are set and got by the command that creates it. If
     * the data are longer than {@link OsdOptions#transferBytes()}, what follows is written by further commands; a
     * failure then leaves an object with a part of the data.
     *
     * @param id at least {@link ObjectId#FIRST}
     * @param data written from offset 0 on
     * @throws ObjectExistsException if a user object or a collection has this identifier
     */
    public Reply<UserObject> createAndWrite(long id, MemorySegment data, RequestOptions options)
            throws IOException {
        Created.check(id);
        Reply<Long> reply = calls().execute(createAndWriteCommand(id, data, options));
        UserObject created = object(id);
        writeRest(created, data, options);
        return reply.map(_ -> created);
    }

    private OsdCommand createAndWriteCommand(long id, MemorySegment data, RequestOptions options) {
        MemorySegment first = data.asSlice(0, firstBytes(data));
        return Transfers.range(ServiceAction.CREATE_AND_WRITE, objectId(id), first.byteSize(), 0,
                options).writing(first);
    }

    private void writeRest(UserObject object, MemorySegment data, RequestOptions options)
            throws IOException {
        long first = firstBytes(data);
        if (first < data.byteSize()) {
            var _ = object.write(first, data.asSlice(first), options.withoutAttributes());
        }
    }

    private long firstBytes(MemorySegment data) {
        return Math.min(data.byteSize(), calls().options().transferBytes());
    }

    // --- collections ---

    /** Returns a handle of a collection, which need not exist. */
    public CollectionObject collection(long id) {
        return new CollectionObject(calls(), objectId(id));
    }

    /** Returns the collections by ascending identifiers; see {@link #objects()}. */
    public Stream<CollectionObject> collections() throws IOException {
        return ObjectIds.of(calls(), ServiceAction.LIST_COLLECTION, id())
                .map(this::collection);
    }

    /** Creates a collection whose identifier the device chooses. */
    public CollectionObject createCollection() throws IOException {
        return createCollection(RequestOptions.NONE).value();
    }

    /** Creates a collection whose identifier the device chooses, with its attributes at once. */
    public Reply<CollectionObject> createCollection(RequestOptions options) throws IOException {
        Reply<Long> reply = calls().execute(createCollectionCommand(0,
                options.gettingFirst(CurrentCommandAttribute.OBJECT_ID)));
        return new Reply<>(collection(Created.object(reply, calls())), reply.attributes());
    }

    /**
     * Creates a collection.
     *
     * @param id at least {@link ObjectId#FIRST}
     * @throws ObjectExistsException if a user object or a collection has this identifier
     */
    public Reply<CollectionObject> createCollection(long id, RequestOptions options)
            throws IOException {
        Created.check(id);
        return calls().execute(createCollectionCommand(id, options)).map(_ -> collection(id));
    }

    private OsdCommand createCollectionCommand(long id, RequestOptions options) {
        return OsdCommand.of(ServiceAction.CREATE_COLLECTION, options,
                common -> new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, common,
                        objectId(id), 0, false, 0));
    }

    // --- the partition itself ---

    /** Makes everything in it stable. */
    public void flush() throws IOException {
        flush(FlushScope.ALL);
    }

    /**
     * Makes a part of it stable.
     *
     * @param scope {@link FlushScope#MEMBERS}, {@link FlushScope#OWN_ATTRIBUTES} or {@link FlushScope#ALL}
     */
    public void flush(FlushScope scope) throws IOException {
        var _ = calls().execute(OsdCommand.of(ServiceAction.FLUSH_PARTITION, RequestOptions.NONE,
                common -> new FlushCommand(ServiceAction.FLUSH_PARTITION, common, id(), scope, 0,
                        0, 0)));
    }

    /**
     * Removes the partition.
     *
     * @throws NotEmptyException if it has user objects or collections
     */
    public void remove() throws IOException { var _ = remove(false, RequestOptions.NONE); }

    /** Removes the partition with everything in it. */
    public void removeWithContents() throws IOException {
        var _ = remove(true, RequestOptions.NONE);
    }

    /** Removes the partition; attributes are got before. See {@link #remove()}. */
    public Reply<Partition> remove(boolean withContents, RequestOptions options)
            throws IOException {
        return calls().execute(OsdCommand.of(ServiceAction.REMOVE_PARTITION, options,
                common -> new RemoveCommand(ServiceAction.REMOVE_PARTITION, common, id(),
                        withContents, 0)))
                .map(_ -> this);
    }
}
