package lunar.target.internal.task;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * A SCSI command in a recording of JDK Flight Recorder: from its arrival to its response. Off unless a recording
 * enables it; a command then costs no more than a look whether one does.
 */
@Name("lunar.Command")
@Label("SCSI Command")
@Category({"Lunar", "Target"})
@Description("A SCSI command, from its arrival to its response")
@Enabled(false)
@StackTrace(false)
final class CommandEvent extends Event {
    /** Tells whether the event is enabled, without a new object. */
    private static final CommandEvent PROBE = new CommandEvent();

    @Label("Command")
    String command = "";
    @Label("Target")
    String target = "";
    @Label("LUN")
    String lun = "";
    @Label("Initiator")
    String initiator = "";
    @Label("Data-In")
    @DataAmount
    long dataIn;
    @Label("Data-Out")
    @DataAmount
    long dataOut;
    @Label("Status")
    @Description("SCSI status, or aborted")
    String status = "";
    @Label("Sense Key")
    String senseKey = "";

    private CommandEvent() {}

    /** Returns the event of a command that has arrived; null if no recording wants it. */
    static @Nullable CommandEvent begun() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        var event = new CommandEvent();
        event.begin();
        return event;
    }
}
