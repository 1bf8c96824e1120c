package lunar.scsi.command;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

/**
 * A command that a device server supports, as REPORT SUPPORTED OPERATION CODES tells of it (SPC-5).
 *
 * @param name the standard's name, with the length where there are several
 * @param opcode OPERATION CODE
 * @param serviceAction SERVICE ACTION, where the operation code has some
 * @param usage CDB USAGE DATA: operation code, service action, and a one for every bit the device server looks at
 * @param timeouts how long the command may take, if told
 */
public record CommandDescriptor(String name, int opcode, OptionalInt serviceAction, Bytes usage,
        Optional<Timeouts> timeouts) {
    /**
     * Command timeouts descriptor (SPC-5); 0 stands for a time that is not told.
     *
     * @param nominalS NOMINAL COMMAND PROCESSING TIMEOUT in seconds
     * @param recommendedS RECOMMENDED COMMAND TIMEOUT in seconds
     */
    public record Timeouts(long nominalS, long recommendedS) {
        public Timeouts {
            CdbFields.check("nominalS", nominalS, 0xffff_ffffL);
            CdbFields.check("recommendedS", recommendedS, 0xffff_ffffL);
        }
    }

    public CommandDescriptor {
        if (usage.length() == 0 || usage.at(0) != opcode) {
            throw new IllegalArgumentException("usage data of another command: " + usage);
        }
        serviceAction.ifPresent(value -> CdbFields.check("serviceAction", value, 0xffff));
    }

    /** Returns this descriptor with timeouts. */
    public CommandDescriptor withTimeouts(long nominalS, long recommendedS) {
        return new CommandDescriptor(name, opcode, serviceAction, usage,
                Optional.of(new Timeouts(nominalS, recommendedS)));
    }

    /** Bytes of the CDB. */
    public int cdbLength() { return usage.length(); }

    boolean matches(int otherOpcode, int otherServiceAction) {
        return opcode == otherOpcode
                && (serviceAction.isEmpty() || serviceAction.getAsInt() == otherServiceAction);
    }
}
