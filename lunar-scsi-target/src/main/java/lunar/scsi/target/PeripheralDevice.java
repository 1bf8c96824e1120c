package lunar.scsi.target;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.scsi.Sense;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.VpdPage;

/**
 * Device-type-specific part of a logical unit (SPC-5): vital product data, conditions that fail a command, and the
 * effects of resets and aborts. {@link UnitSpec#open} creates it and adds its commands. The logical unit adds the parts
 * common to all device types: INQUIRY, REPORT LUNS, REQUEST SENSE, TEST UNIT READY, reservations, target port groups,
 * and the report of supported commands.
 *
 * <p>Thread-safe: several threads deliver commands of several nexuses. Methods that return a future do not block.
 */
public interface PeripheralDevice {
    /** Returns the identity of the device: vendor, product, revision, serial number, UUID. */
    Identity identity();

    /**
     * Returns standard INQUIRY data; the unit adds TPGS and MULTIP. All VPD pages report its PERIPHERAL DEVICE TYPE.
     */
    StandardInquiry inquiry();

    /** Returns VPD pages other than 00h, 80h, 83h and 88h, which the unit provides. */
    default List<VpdPage> vpdPages() {
        return List.of();
    }

    /** Returns VPD pages like {@link #vpdPages()}, some of which a nexus may have to itself. */
    default List<VpdPage> vpdPages(Nexus nexus) {
        return vpdPages();
    }

    /**
     * Accepts a frequent command without decoding it, by {@link ScsiTask#acceptPlain}. Runs on the task's loop.
     *
     * @return false if the command must be decoded
     */
    default boolean acceptPlain(ScsiTask task) { return false; }

    /** Returns the bytes of data-in that an accepted command is to read, as {@link DeviceServer#dataInBytes}. */
    default long dataInBytes(ScsiTask task) {
        return task.expectedInBytes();
    }

    /** Returns the access of a command that was accepted plain. */
    default Access plainAccess(ScsiTask task) {
        throw new IllegalStateException("no plain commands");
    }

    /** Executes a command that was accepted plain; like a handler of a {@link CommandSet}. */
    default void executePlain(ScsiTask task) {
        throw new IllegalStateException("no plain commands");
    }

    /**
     * Called when a command begins; {@link #end} follows when it has ended, successfully or not. Called before {@link
     * #obstacle}, so that an operation on the whole medium either waits for the command or makes it fail.
     */
    default void begin(Access access) {}

    /** Called when a command has ended. */
    default void end(Access access) {}

    /**
     * Returns the sense data with which commands of this access fail at present, such as NOT READY; checked after
     * reservations.
     */
    default Optional<Sense> obstacle(Access access) { return Optional.empty(); }

    /** Called immediately before a command is executed; returned sense data ends the command instead. */
    default Optional<Sense> executing(ScsiTask task) {
        return Optional.empty();
    }

    /**
     * Returns the sense data that REQUEST SENSE reports while no unit attention is pending, such as the progress of an
     * operation.
     */
    default Optional<Sense> pollable() { return Optional.empty(); }

    /** Whether sense data is returned in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }

    /** Resets the device: restores the state that commands have changed (SAM-5 section 6.3.3). */
    default CompletableFuture<Void> reset() {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Ends operations in progress, because another server that shares the unit has reset it. That server has reset the
     * shared state.
     */
    default CompletableFuture<Void> resetByOther() {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Called before a new nexus gets its first unit attention, which depends on whether the unit has lost writes
     * ({@link LogicalUnit#lostWrites}). Must not block.
     */
    default void arriving() {}

    /**
     * Releases the resources of a nexus that is lost or was reset (SAM-5 section 6.3.4); completes like {@link
     * #cancel}.
     */
    default CompletableFuture<Void> nexusLost(Nexus nexus) { return cancel(nexus); }

    /** Cancels operations of a nexus that outlast their commands; completes when they can no longer have an effect. */
    default CompletableFuture<Void> cancel(Nexus nexus) {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Stops third-party copies and similar operations that write to this device, regardless of the logical unit that
     * received their commands; completes when they can no longer have an effect.
     *
     * @param of selects the nexuses whose operations are stopped
     */
    default CompletableFuture<Void> stopChanges(Predicate<Nexus> of) {
        return CompletableFuture.completedFuture(null);
    }

    /** Completes when no background operation uses the device. */
    default CompletableFuture<Void> quiet() {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Starts to follow changes by other servers that share the unit; called once, before the first command.
     *
     * @throws IOException if the shared state cannot be read
     */
    default void startFollowing() throws IOException {}

    /**
     * Stops following changes by other servers, if it does, and releases threads. Called when no LUN has the unit any
     * more, perhaps several times.
     *
     * @return completes when another instance may use the state of the unit, within a bounded time
     */
    default CompletableFuture<Void> stopFollowing() {
        return CompletableFuture.completedFuture(null);
    }

    /** Checks whether the device has changed by itself, for example its size. May block. */
    default void refresh() throws StorageException {}

    /** Called when the device has failed a request of this task. */
    default void failed(ScsiTask task) {}

    /**
     * Called when the device has reported to this task that acknowledged writes, possibly of other nexuses, may be
     * lost.
     */
    default void lostWrites(ScsiTask task) {}
}
