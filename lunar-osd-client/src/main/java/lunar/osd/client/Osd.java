package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.LostWritesException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.osd.client.security.SecuredDevice;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.command.StructureCheckCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;

/**
 * An object-based storage device (OSD-2), reached through a session that its user opens and closes. Needs no closing.
 * Immutable and thread-safe; see the package for errors, buffers and threads.
 */
public final class Osd {
    private static final int INQUIRY_BYTES = 96;

    private final OsdCalls calls;
    private final StandardInquiry inquiry;
    private final SecuredDevice secured;

    private Osd(OsdCalls calls, StandardInquiry inquiry, SecuredDevice secured) {
        this.calls = calls;
        this.inquiry = inquiry;
        this.secured = secured;
    }

    /** Like {@link #open(Session, Lun, OsdOptions)}, with default options. */
    public static Osd open(Session session, Lun lun) throws StorageException {
        return open(session, lun, OsdOptions.DEFAULT);
    }

    /**
     * Opens a LUN that is an object-based storage device.
     *
     * @throws NotSupportedException if it is a device of another type
     * @throws StorageException if there is no such LUN, or it does not answer
     */
    public static Osd open(Session session, Lun lun, OsdOptions options) throws StorageException {
        return open(new SessionLink(session, lun), options);
    }

    static Osd open(CommandLink link, OsdOptions options) throws StorageException {
        var calls = new OsdCalls(link, options);
        var tokens = new SecurityTokens(calls);
        var lookup = new DeviceLookup(calls, tokens::page);
        options.credentials().ifPresent(
                source -> calls.secure(new CommandSecurity(source, tokens, lookup)));
        StandardInquiry inquiry = calls.ask(new Inquiry(false, 0, INQUIRY_BYTES), INQUIRY_BYTES,
                StandardInquiry::decode);
        if (!inquiry.isConnected() || inquiry.deviceType() != StandardInquiry.OSD) {
            throw new NotSupportedException(link.name()
                    + (inquiry.isConnected()
                            ? " is no object store: it has device type "
                                    + Integer.toHexString(inquiry.deviceType()) + "h"
                            : " has no device"));
        }
        calls.send(new TestUnitReady(), MemorySegment.NULL, MemorySegment.NULL, true);
        return new Osd(calls, inquiry, lookup);
    }

    /** Returns the standard INQUIRY data of the device. */
    public StandardInquiry inquiry() {
        return inquiry;
    }

    /** Returns what an issuer of credentials has to know about the device. */
    public SecuredDevice secured() {
        return secured;
    }

    /** Returns the options. */
    public OsdOptions options() { return calls.options(); }

    /** Returns the root object. */
    public RootObject root() { return new RootObject(calls); }

    /** Gets what the device tells about itself. */
    public OsdInfo info() throws IOException {
        return OsdInfo.read(root(), inquiry);
    }

    // --- partitions ---

    /** Returns a handle of a partition, which need not exist. */
    public Partition partition(long id) {
        return new Partition(calls, id);
    }

    /**
     * Returns the partitions by ascending identifiers, without holding them all in memory. Long lists take several
     * commands; a failure of a later one throws {@link java.io.UncheckedIOException} from the stream.
     */
    public Stream<Partition> partitions() throws IOException {
        return ObjectIds.of(calls, ServiceAction.LIST, ObjectId.ROOT)
                .map(this::partition);
    }

    /**
     * Returns partitions with attributes, by ascending identifiers, with one command for many; see
     * {@link #partitions()}.
     *
     * @param from smallest identifier; 0 for all
     * @param attributes attributes of each partition, at least one; together at most 64 KiB
     */
    public Stream<Reply<Partition>> partitions(long from, AttributeId... attributes)
            throws IOException {
        return ObjectIds
                .of(calls, ServiceAction.LIST, ObjectId.ROOT, from, List.of(attributes))
                .map(each -> each.map(this::partition));
    }

    /** Creates a partition whose identifier the device chooses. */
    public Partition createPartition() throws IOException {
        return createPartition(RequestOptions.NONE).value();
    }

    /**
     * Creates a partition.
     *
     * @param id at least {@link ObjectId#FIRST}
     * @throws ObjectExistsException if it exists
     */
    public Partition createPartition(long id) throws IOException {
        return createPartition(id, RequestOptions.NONE).value();
    }

    /** Creates a partition whose identifier the device chooses. */
    public Reply<Partition> createPartition(RequestOptions options) throws IOException {
        Reply<Long> reply = calls.execute(createPartition(0,
                options.gettingFirst(CurrentCommandAttribute.PARTITION_ID), 0));
        return new Reply<>(partition(Created.partition(reply, calls)), reply.attributes());
    }

    /** Creates a partition; see {@link #createPartition(long)}. */
    public Reply<Partition> createPartition(long id, RequestOptions options) throws IOException {
        Created.check(id);
        return calls.execute(createPartition(id, options, 0)).map(_ -> partition(id));
    }

    private static OsdCommand createPartition(long id, RequestOptions options, int continuation) {
        return OsdCommand.of(ServiceAction.CREATE_PARTITION, options,
                common -> new CreatePartitionCommand(common, id, continuation));
    }

    // --- the device as a whole ---

    /** Removes everything, partitions and attributes of the root included, and makes all capacity available. */
    public void format() throws IOException {
        var _ = format(0, RequestOptions.NONE);
    }

    /**
     * Removes everything; attributes are set afterwards, such as the system identifier and the name of the device.
     *
     * @param capacityBytes capacity to format; 0 for all
     */
    public Reply<RootObject> format(long capacityBytes, RequestOptions options)
            throws IOException {
        return calls.execute(OsdCommand.of(ServiceAction.FORMAT_OSD, options,
                common -> new FormatOsdCommand(common, capacityBytes, 0))).map(_ -> root());
    }

    /** Makes everything stable: all objects with their attributes. */
    public void flush() throws IOException {
        var _ = calls.execute(OsdCommand.of(ServiceAction.FLUSH_OSD, RequestOptions.NONE,
                common -> new FlushCommand(ServiceAction.FLUSH_OSD, common, ObjectId.ROOT,
                        FlushScope.ALL, 0, 0, 0)));
    }

    /**
     * Returns how often the device may have lost changes that it had acknowledged and not made stable: when it reported
     * a power on or a reset, and when its session had to be re-established and it did not report that only the nexus
     * was lost. If the session has ended, logs in first where the connection does that.
     *
     * <p>A flush makes stable what the device has. That it still has an earlier change is known if this number is
     * after the flush what it was before the change.
     */
    public long losses() throws StorageException { return calls.losses(); }

    /**
     * Checks, after a flush, that the device has made stable all that was changed since a call of {@link #losses}.
     *
     * @param before what {@link #losses} returned before the first change
     * @throws LostWritesException if changes may be lost, which must be made again
     */
    public void requireNoLoss(long before) throws StorageException {
        if (losses() != before) {
            throw new LostWritesException(this + " was reset or lost its session before it was"
                    + " flushed; changes since the last flush may be lost");
        }
    }

    /** Makes the device check its structures (OBJECT STRUCTURE CHECK), and repair them where it can. */
    public void checkStructure() throws IOException {
        var _ = calls.execute(OsdCommand.of(ServiceAction.OBJECT_STRUCTURE_CHECK,
                RequestOptions.NONE, common -> new StructureCheckCommand(common, 0, 0)));
    }

    /**
     * Sets a key of a device with security, and invalidates all credentials that it and the keys below it have issued.
     *
     * @param partition Partition_ID; 0 for the root key
     * @param version number of the working key, 0 to 15; 0 for others
     * @param keyId identifier of the new key, 7 bytes
     * @param seed 20 bytes, which everybody can read who can read the network
     */
    public void setKey(KeyLevel level, long partition, int version, Bytes keyId, Bytes seed)
            throws IOException {
        var _ = calls.execute(OsdCommand.of(ServiceAction.SET_KEY, RequestOptions.NONE,
                common -> new SetKeyCommand(common, level, partition, version, keyId, seed)));
    }

    /**
     * Sends any command as it is, which the caller has encoded with its capability and the offsets of its attributes.
     * After a unit attention, or while the device is busy, it is sent again.
     *
     * @param dataIn buffer for data from the device; {@link MemorySegment#NULL} for none
     * @param dataOut data for the device; {@link MemorySegment#NULL} for none
     * @return the result, a success
     */
    public ScsiResult send(OsdCdb cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws IOException {
        try {
            return calls.send(cdb, dataIn, dataOut, false);
        } catch (StorageException e) {
            throw OsdErrors.of(e, cdb, cdb.action() + " of " + cdb.object() + " on "
                    + calls.name());
        }
    }

    /** Returns the name of the target with the LUN. */
    @Override
    public String toString() { return calls.name(); }
}
