package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.MediumException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.data.QueryMatches;

/** A handle of a collection: a set of user objects of one partition. */
public final class CollectionObject extends OsdObject {
    private static final int FIRST_BYTES = 64 << 10;
    private static final int MAX_BYTES = 256 << 20;
    private static final int UNCOUNTED = 8;
    private static final int MAX_ASKS = 4;

    CollectionObject(OsdCalls calls, ObjectId id) { super(calls, id); }

    private UserObject object(long id) {
        return new UserObject(calls(), new ObjectId(id().partition(), id));
    }

    // --- members ---

    /**
     * Returns the members by ascending identifiers, without holding them all in memory. Long lists take several
     * commands; a failure of a later one throws {@link java.io.UncheckedIOException} from the stream.
     */
    public Stream<UserObject> members() throws IOException {
        return ObjectIds.of(calls(), ServiceAction.LIST_COLLECTION, id())
                .map(this::object);
    }

    /**
     * Adds a user object of the same partition; no effect if it is a member. It takes two commands: clients that change
     * the collections of one object at a time must exclude each other.
     */
    public void add(UserObject object) throws IOException {
        Membership.add(object, id().object());
    }

    /** Removes a user object from the collection; no effect if it is no member. Like {@link #add}, two commands. */
    public void remove(UserObject object) throws IOException {
        Membership.remove(object, id().object());
    }

    /**
     * Sets attributes of all members, with one command (SET MEMBER ATTRIBUTES).
     *
     * @param options attributes to set; the attributes that it gets are those of the collection
     */
    public void setMemberAttributes(RequestOptions options) throws IOException {
        var _ = calls().execute(members(ServiceAction.SET_MEMBER_ATTRIBUTES, options));
    }

    /** Removes all members from the device, with one command (REMOVE MEMBER OBJECTS). */
    public void removeMemberObjects() throws IOException {
        var _ = calls().execute(members(ServiceAction.REMOVE_MEMBER_OBJECTS,
                RequestOptions.NONE));
    }

    private OsdCommand members(ServiceAction action, RequestOptions options) {
        return OsdCommand.of(action, options,
                common -> new AttributesCommand(action, common, id(), false, 0));
    }

    /**
     * Returns the members whose attributes meet criteria (QUERY).
     *
     * @param all whether a member has to meet all criteria; else any of them
     */
    public List<UserObject> query(boolean all, QueryList.Criterion... criteria)
            throws IOException {
        byte[] segment = ContinuationSegment.of(ServiceAction.QUERY,
                new QueryList(all, List.of(criteria))).bytes();
        int room = FIRST_BYTES;
        for (int i = 0; i < MAX_ASKS; i++) {
            QueryMatches matches = query(segment, room);
            long needed = matches.additionalLength() + UNCOUNTED;
            if (needed <= room) {
                return matches.ids().stream().map(this::object).toList();
            }
            if (needed > MAX_BYTES) {
                throw new MediumException(ServiceAction.QUERY + " of " + id() + " on "
                        + calls().name() + ": " + needed + " bytes of matches");
            }
            room = (int) needed;
        }
        throw new MediumException(ServiceAction.QUERY + " of " + id() + " on " + calls().name()
                + ": the matches keep growing");
    }

    private QueryMatches query(byte[] segment, int room) throws IOException {
        var buffer = MemorySegment.ofArray(new byte[room]);
        long received = calls().execute(OsdCommand.of(ServiceAction.QUERY, RequestOptions.NONE,
                common -> new QueryCommand(common, id(), room, 0, false, segment.length))
                .reading(buffer).withContinuation(segment)).value();
        return calls().decode(ServiceAction.QUERY + " of " + id(), QueryMatches::decode,
                buffer.asSlice(0, received));
    }

    // --- the collection itself ---

    /**
     * Makes a part of it stable.
     *
     * @param scope {@link FlushScope#MEMBERS}, {@link FlushScope#OWN_ATTRIBUTES} or {@link FlushScope#ALL}
     */
    public void flush(FlushScope scope) throws IOException {
        var _ = calls().execute(OsdCommand.of(ServiceAction.FLUSH_COLLECTION, RequestOptions.NONE,
                common -> new FlushCommand(ServiceAction.FLUSH_COLLECTION, common, id(), scope, 0,
                        0, 0)));
    }

    /**
     * Removes the collection.
     *
     * @throws NotEmptyException if it has members
     */
    public void remove() throws IOException { var _ = remove(false, RequestOptions.NONE); }

    /**
     * Removes the collection; attributes are got before.
     *
     * @param force whether it may have members, which remain
     */
    public Reply<CollectionObject> remove(boolean force, RequestOptions options)
            throws IOException {
        return calls().execute(OsdCommand.of(ServiceAction.REMOVE_COLLECTION, options,
                common -> new RemoveCommand(ServiceAction.REMOVE_COLLECTION, common, id(), force,
                        0)))
                .map(_ -> this);
    }
}
