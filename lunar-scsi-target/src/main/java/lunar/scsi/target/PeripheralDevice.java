package lunar.scsi.target;

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
 * The device behind a logical unit, as far as it depends on its device type (SPC-5): vital product data, what stops a
 * command, and what resets and aborts mean to it. {@link UnitSpec#open} makes it and adds its commands. The logical
 * unit adds what all types have in common: INQUIRY, REPORT LUNS, REQUEST SENSE, TEST UNIT READY, reservations, target
 * port groups, and the report of supported commands.
 *
 * <p>Thread-safe: commands of several nexuses come on several threads. Methods that return a future do not block.
 */
public interface PeripheralDevice {
    /** Names the device: vendor, product, revision, serial number, UUID. */
    Identity identity();

    /** Standard INQUIRY data; the unit adds TPGS and MULTIP. The PERIPHERAL DEVICE TYPE is that of all VPD pages. */
    StandardInquiry inquiry();

    /** Pages of vital product data besides 00h, 80h, 83h and 88h, which the unit has. */
    default List<VpdPage> vpdPages() {
        return List.of();
    }

    /**
     * Accepts a frequent command without decoding it, by {@link ScsiTask#acceptPlain}. On the task's loop.
     *
     * @return false for all others, which are then decoded
     */
    default boolean acceptPlain(ScsiTask task) { return false; }

    /** Access of a command that was accepted plain. */
    default Access plainAccess(ScsiTask task) {
        throw new IllegalStateException("no plain commands");
    }

    /** Executes a command that was accepted plain; like a handler of a {@link CommandSet}. */
    default void executePlain(ScsiTask task) {
        throw new IllegalStateException("no plain commands");
    }

    /**
     * A command begins; {@link #end} follows when it has ended, whatever became of it. Called before
     * {@link #obstacle}, so that work on the whole medium either waits for the command or is seen by it.
     */
    default void begin(Access access) {}

    /** A command has ended. */
    default void end(Access access) {}

    /** Why commands with this access fail now, such as NOT READY; checked after reservations. */
    default Optional<Sense> obstacle(Access access) {
        return Optional.empty();
    }

    /** The last look before a command is executed; what it returns ends the command instead. */
    default Optional<Sense> executing(ScsiTask task) {
        return Optional.empty();
    }

    /** What REQUEST SENSE reports while no unit attention pends: the progress of an operation, say. */
    default Optional<Sense> pollable() {
        return Optional.empty();
    }

    /** Whether sense data go out in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }

    /** Resets the device: what commands have set goes back to what it was (SAM-5 section 6.3.3). */
    default CompletableFuture<Void> reset() {
        return CompletableFuture.completedFuture(null);
    }

    /** Forgets what a nexus held that is lost or was reset (SAM-5 section 6.3.4), and ends as {@link #cancel} does. */
    default CompletableFuture<Void> nexusLost(Nexus nexus) {
        return cancel(nexus);
    }

    /** Cancels what a nexus has begun here that goes on after its commands; ends when it has no effect any more. */
    default CompletableFuture<Void> cancel(Nexus nexus) {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Stops third-party copies and the like that write to this device, whichever logical unit has received their
     * commands; ends when they have no effect any more.
     *
     * @param of nexuses whose commands they are
     */
    default CompletableFuture<Void> stopChanges(Predicate<Nexus> of) {
        return CompletableFuture.completedFuture(null);
    }

    /** Ends when nothing works on the device that no command waits for. */
    default CompletableFuture<Void> quiet() {
        return CompletableFuture.completedFuture(null);
    }

    /** Looks whether the device has changed by itself, in its size, say. May block. */
    default void refresh() throws StorageException {}

    /** The device has failed a request of this task. */
    default void failed(ScsiTask task) {}

    /** The device has told this task that acknowledged writes, also of other nexuses, may be lost. */
    default void lostWrites(ScsiTask task) {}
}
