package lunar.osd.target.command;

import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.scsi.target.Access;

/** Access of commands to the device, by which reservations and read-only initiators are judged. */
final class OsdAccess {
    private OsdAccess() {}

    static Access of(OsdCdb command) {
        boolean reads = switch (command.action()) {
            case READ, GET_ATTRIBUTES, LIST, LIST_COLLECTION, READ_MAP, GET_MEMBER_ATTRIBUTES,
                    OBJECT_STRUCTURE_CHECK ->
                true;
            case QUERY -> command instanceof QueryCommand query && query.matches() == 0;
            default -> false;
        };
        if (reads && !AttributeRequests.sets(command.common().attributes())) {
            return Access.READ;
        }
        return switch (command.action()) {
            case PERFORM_SCSI_COMMAND -> Access.FREE;
            case PERFORM_TASK_MANAGEMENT_FUNCTION -> Access.CONTROL;
            default -> Access.WRITE;
        };
    }
}
