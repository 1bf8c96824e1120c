package lunar.target.device;

import lunar.scsi.CommandDescriptor;

/** How long hosts should wait for a command (SPC-5 section 6.35.4, RCTD): by what it may have to do on the medium. */
final class CommandTimeouts {
    /** A transfer, with a disk that has to wake up first. */
    private static final int TRANSFER_S = 60;
    /** Work of a length that the CDB does not bound, or only by the size of the device. */
    private static final int LONG_S = 600;

    private CommandTimeouts() {}

    /** The command with its timeouts; a nominal time is not told, since only the medium knows. */
    static CommandDescriptor of(CommandDescriptor command) {
        return command.withTimeouts(0, switch (command.opcode()) {
            case 0x04, 0x1d, 0x2e, 0x2f, 0x35, 0x41, 0x42, 0x83, 0x8e, 0x8f, 0x91, 0x93, 0xae,
                    0xaf ->
                LONG_S;
            default -> TRANSFER_S;
        });
    }
}
