package lunar.osd.security;

import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.SetKeyCommand;

/**
 * Which secret key the credential of a command is issued with: the key above the one that is set for SET KEY, the
 * master key for SET MASTER KEY, the root key for what concerns the device and for the creation and removal of
 * partitions, and for all else the working key of the partition that the key version of the capability names.
 */
public enum SigningKey {
    MASTER, ROOT, PARTITION, WORKING;

    /** Returns the key of a command. */
    public static SigningKey of(OsdCdb command) {
        return switch (command.action()) {
            case SET_MASTER_KEY -> MASTER;
            case SET_KEY -> command instanceof SetKeyCommand set ? switch (set.level()) {
                case ROOT -> MASTER;
                case PARTITION -> ROOT;
                case WORKING -> PARTITION;
            } : MASTER;
            case CREATE_PARTITION, REMOVE_PARTITION -> ROOT;
            default -> command.object().partition() == 0 ? ROOT : WORKING;
        };
    }
}
