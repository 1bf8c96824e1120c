package lunar.osd.target.command;

import lunar.osd.store.ObjectStore;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.scsi.target.Access;
import lunar.scsi.target.ScsiTask;

/**
 * Tells brief commands from others, so that the event loop of their connection may run them
 * ({@link ScsiTask#workBriefly}): they concern one object, little data and few attributes, and normally wait for
 * nothing to become stable.
 */
final class BriefCommands {
    /** Most bytes each way. */
    private static final int MAX_BYTES = 64 << 10;
    /** Most bytes that are written behind the data that an object has; for more, the store may create a file. */
    private static final int MAX_NEW_BYTES = 4 << 10;
    private static final int MAX_EXTENTS = 4;
    /** Most bytes of attributes that are set, and of lists of attributes to get. */
    private static final int MAX_LIST_BYTES = 1 << 10;

    private BriefCommands() {}

    /** Whether a command is expected to take microseconds. */
    static boolean isBrief(OsdCdb command, ScsiTask task, DataOut out, ObjectStore store) {
        boolean ofOneObject = switch (command.action()) {
            case GET_ATTRIBUTES, SET_ATTRIBUTES, READ, WRITE, REMOVE -> true;
            case CREATE -> command instanceof CreateCommand create && create.objectCount() <= 1;
            case APPEND, CREATE_AND_WRITE -> out.extentBytes() <= MAX_NEW_BYTES;
            default -> false;
        };
        return ofOneObject && !becomesStable(command, store)
                && task.dataOut().byteSize() <= MAX_BYTES && task.expectedInBytes() <= MAX_BYTES
                && out.extents().size() <= MAX_EXTENTS && listBytes(command) <= MAX_LIST_BYTES;
    }

    private static boolean becomesStable(OsdCdb command, ObjectStore store) {
        return command.common().options().fua()
                || (store.isEveryChangeStable() && OsdAccess.of(command) == Access.WRITE);
    }

    private static long listBytes(OsdCdb command) {
        return switch (command.common().attributes()) {
            case FieldParameters _ -> 0;
            case ListParameters lists -> lists.getList().length() + lists.setList().length();
            case PageParameters page -> page.setValue().length();
        };
    }
}
