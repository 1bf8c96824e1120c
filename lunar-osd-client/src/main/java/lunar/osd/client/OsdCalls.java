package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.LongStream;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.scsi.CommandRetries;
import lunar.iscsi.pdu.Residual;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ScsiException;
import lunar.scsi.Sense;
import lunar.scsi.wire.BigEndian;
import org.jspecify.annotations.Nullable;

/**
 * Sends commands to a device and decodes its answers: the only place that handles retries, residuals and errors.
 * Thread-safe.
 */
final class OsdCalls {
    /** Decodes data that a device has sent. */
    @FunctionalInterface
    interface Decoder<T> {
        T decode(MemorySegment bytes) throws ScsiException;
    }

    /** READ past the end of a user object. */
    private static final AdditionalSense PAST_END = new AdditionalSense(0x3b, 0x17);
    private static final int MAX_ASKS = 4;
    private static final int MAX_REFUSALS = 3;
    private static final int MAX_ROOM = 64 << 20;

    private final CommandLink link;
    private final OsdOptions options;
    private @Nullable CommandSecurity security;

    OsdCalls(CommandLink link, OsdOptions options) {
        this.link = link;
        this.options = options;
    }

    /** Seals all commands from now on; before this is shared with other threads. */
    void secure(CommandSecurity with) {
        security = with;
    }

    OsdOptions options() { return options; }

    String name() { return link.name(); }

    long losses() throws StorageException { return link.losses(); }

    /** Returns what is another object after another login. */
    Object connection() throws StorageException {
        return link.connection();
    }

    // --- commands of other standards ---

    /** Sends a command that reads parameter data. */
    <T> T ask(Cdb cdb, int maxBytes, Decoder<T> decoder) throws StorageException {
        var data = MemorySegment.ofArray(new byte[maxBytes]);
        ScsiResult result = send(cdb, data, MemorySegment.NULL, true);
        return decode(cdb + " on " + name(), decoder, data.asSlice(0, result.dataInBytes()));
    }

    /** Sends a command as it is; returns its result, a success. */
    ScsiResult send(Cdb cdb, MemorySegment in, MemorySegment out, boolean idempotent)
            throws StorageException {
        byte[] bytes = cdb.bytes();
        String what = cdb + " on " + name();
        return CommandRetries.send(() -> link.execute(bytes, in, out), idempotent,
                link.patienceMs(), () -> what).orThrow(what);
    }

    // --- commands of OSD ---

    /** Executes a command; returns how much of its own data was transferred, and the attributes. */
    Reply<Long> execute(OsdCommand command) throws IOException {
        List<AttributeId> gets = command.options().gets();
        CommandFrame frame = frame(command, command.removes()
                ? AttributeRoom.full(gets)
                : AttributeRoom.usual(gets));
        return received(frame, () -> send(frame));
    }

    /** Sends a command once. */
    private ScsiResult send(CommandFrame frame) throws StorageException {
        return link.execute(frame.sealed(), frame.dataIn(), frame.dataOut());
    }

    /**
     * Creates several objects; returns their identifiers.
     *
     * @param command gets the identifier of the current command's object: a device returns that of each object, or of
     *        the last one
     */
    List<Long> createMany(OsdCommand command, int count) throws IOException {
        CommandFrame frame = frame(command, Math.addExact(AttributeRoom.HEADER,
                Math.multiplyExact(count,
                        AttributeRoom.OBJECT + AttributeRoom.ENTRY + Long.BYTES)));
        var _ = transferred(frame, () -> send(frame));
        String what = describe(frame);
        try {
            List<Long> ids = frame.objects().isPresent()
                    ? frame.objects().get().stream().map(ObjectAttributes::id).toList()
                    : upTo(number(frame.attributes(), CurrentCommandAttribute.OBJECT_ID), count);
            if (ids.size() != count) {
                throw new MediumException(what + ": invalid response: " + ids.size() + " of "
                        + count + " identifiers");
            }
            return ids;
        } catch (MalformedDataException e) {
            throw nonsense(what, e);
        }
    }

    private static List<Long> upTo(OptionalLong last, int count) {
        return last.isEmpty()
                ? List.of()
                : LongStream.rangeClosed(last.getAsLong() - count + 1, last.getAsLong()).boxed()
                        .toList();
    }

    /** Executes a command that returns its attributes with its data; returns how much data has come. */
    long executeWithoutRetrieval(OsdCommand command) throws IOException {
        CommandFrame frame = frame(command, 0);
        return received(frame, () -> send(frame)).value();
    }

    /** Starts a command without attributes to get, whose buffers any thread may access. */
    Started start(OsdCommand command) throws IOException {
        CommandFrame frame = frame(command, 0);
        return new Started(frame,
                link.start(frame.sealed(), frame.dataIn(), frame.dataOut()));
    }

    private CommandFrame frame(OsdCommand command, int roomBytes) throws IOException {
        return new CommandFrame(command, roomBytes, options.capability(),
                security == null ? null : security.seal(command));
    }

    /** A command in flight. */
    record Started(CommandFrame frame, CompletableFuture<ScsiResult> result) {}

    /** Waits for a command; sends it again where the device has not executed it. */
    Reply<Long> await(Started started) throws IOException {
        CommandFrame frame = started.frame();
        var first = new ArrayList<>(List.of(started.result()));
        return received(frame,
                () -> first.isEmpty() ? send(frame) : join(first.removeLast()));
    }

    private static ScsiResult join(CompletableFuture<ScsiResult> future) throws StorageException {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof StorageException failure) {
                throw failure;
            }
            throw e;
        }
    }

    private Reply<Long> received(CommandFrame frame, CommandRetries.Attempt attempt)
            throws IOException {
        long bytes = transferred(frame, attempt);
        frame.deliver();
        return new Reply<>(bytes, attributes(frame, describe(frame)));
    }

    /** Sends a command; returns how much of its own data was transferred. */
    private long transferred(CommandFrame frame, CommandRetries.Attempt attempt)
            throws IOException {
        String what = describe(frame);
        ScsiResult result = admitted(frame, attempt, what);
        frame.verify(result, what);
        if (frame.command().writes() && result.residual().kind() == Residual.Kind.UNDERFLOW) {
            throw new MediumException(what + ": the device took fewer bytes than it was sent: "
                    + result.residual());
        }
        return bytes(frame, result);
    }

    /** Sends a command, again with another nonce or credential where that may help; returns its success. */
    private ScsiResult admitted(CommandFrame frame, CommandRetries.Attempt attempt, String what)
            throws IOException {
        for (int refusals = 0;; refusals++) {
            ScsiResult result = CommandRetries.send(attempt, frame.command().isIdempotent(),
                    link.patienceMs(), () -> what);
            try {
                return result.orThrow(what);
            } catch (StorageException e) {
                IOException failure = OsdErrors.of(e, frame.cdb(), what);
                if (OsdErrors.tellsState(failure)) {
                    frame.verifyRefusal(result, what);
                }
                boolean again = failure instanceof AccessDeniedException denied
                        && refusals < MAX_REFUSALS && frame.renew(denied.sense());
                if (!again) {
                    throw failure;
                }
            }
        }
    }

    private String describe(CommandFrame frame) {
        return frame.cdb().action() + " of " + frame.cdb().object() + " on " + name();
    }

    /** How much of a command's own data was transferred: a READ past the end says so in the sense data. */
    private static long bytes(CommandFrame frame, ScsiResult result) {
        if (frame.command().writes()) {
            return frame.command().out().byteSize();
        }
        long most = frame.receivedBytes(result);
        return result.sense().filter(sense -> sense.additional().equals(PAST_END))
                .map(Sense::commandSpecific)
                .filter(told -> told.isPresent() && told.getAsLong() >= 0)
                .map(told -> Math.min(most, told.getAsLong())).orElse(most);
    }

    private List<Attribute> attributes(CommandFrame frame, String what) throws IOException {
        if (frame.roomBytes() == 0) {
            return List.of();
        }
        List<AttributeId> gets = frame.command().options().gets();
        List<Attribute> got;
        try {
            got = frame.attributes();
        } catch (MalformedDataException e) {
            throw nonsense(what, e);
        }
        boolean wild = gets.stream().anyMatch(AttributeRoom::isAll);
        boolean complete = wild
                ? !AttributeRoom.isFull(got, frame.roomBytes())
                : got.size() >= gets.size();
        return complete || frame.cdb().action() == ServiceAction.GET_ATTRIBUTES
                || frame.command().removes()
                        ? got
                        : completed(frame, got, wild);
    }

    /** Gets attributes that did not fit; those of the command itself, which are short, are here. */
    private List<Attribute> completed(CommandFrame frame, List<Attribute> got, boolean wild)
            throws IOException {
        List<AttributeId> gets = frame.command().options().gets();
        List<AttributeId> missing = (wild ? gets : gets.subList(got.size(), gets.size())).stream()
                .filter(id -> id.page() != StandardPage.CURRENT_COMMAND.number()).toList();
        var all = new ArrayList<>(wild
                ? got.stream().filter(
                        each -> each.id().page() == StandardPage.CURRENT_COMMAND.number()).toList()
                : got);
        all.addAll(get(object(frame, got), missing, frame.command().options()));
        return all;
    }

    /** The object of a command; where the device chose its identifier, the attributes have it. */
    private static ObjectId object(CommandFrame frame, List<Attribute> got) {
        ObjectId asked = frame.cdb().object();
        return new ObjectId(
                number(got, CurrentCommandAttribute.PARTITION_ID).orElse(asked.partition()),
                number(got, CurrentCommandAttribute.OBJECT_ID).orElse(asked.object()));
    }

    /** Returns the value of an attribute of eight bytes. */
    static OptionalLong number(List<Attribute> attributes, StandardAttribute wanted) {
        return attributes.stream()
                .filter(each -> each.id().equals(wanted.id()) && each.value().length() == 8)
                .mapToLong(each -> BigEndian.int64(each.value().segment(), 0)).findFirst();
    }

    /** GET ATTRIBUTES of any number and length. */
    List<Attribute> get(ObjectId object, List<AttributeId> ids, RequestOptions also)
            throws IOException {
        boolean wild = ids.stream().anyMatch(AttributeRoom::isAll);
        RequestOptions request = also.withoutAttributes().get(ids.toArray(AttributeId[]::new));
        OsdCommand command = OsdCommand.of(ServiceAction.GET_ATTRIBUTES, request,
                common -> new AttributesCommand(
                        ServiceAction.GET_ATTRIBUTES, common, object, false, 0));
        int room = AttributeRoom.usual(ids);
        for (int i = 0; i < MAX_ASKS; i++) {
            CommandFrame frame = frame(command, room);
            List<Attribute> got = received(frame, () -> send(frame)).attributes();
            if (wild ? !AttributeRoom.isFull(got, room) : got.size() >= ids.size()) {
                return got;
            }
            room = Math.min(MAX_ROOM, Math.max(AttributeRoom.full(ids), 8 * room));
        }
        throw new MediumException(ServiceAction.GET_ATTRIBUTES + " of " + object + " on " + name()
                + ": not all attributes fit into " + room + " bytes");
    }

    <T> T decode(String what, Decoder<T> decoder, MemorySegment data) throws StorageException {
        try {
            return decoder.decode(data);
        } catch (ScsiException | IllegalArgumentException | IndexOutOfBoundsException e) {
            // Records reject values that do not fit into their fields; here the values are the device's.
            throw nonsense(what, e);
        }
    }

    private static MediumException nonsense(String what, Exception cause) {
        return new MediumException(what + ": invalid response: " + cause.getMessage(), cause);
    }
}
