package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.command.CommandDescriptor.Timeouts;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT SUPPORTED OPERATION CODES data about all commands (SPC-5).
 *
 * @param commands in the order of the data
 */
public record SupportedOperationCodes(List<Command> commands) implements ParameterData {
    /**
     * A command descriptor.
     *
     * @param opcode OPERATION CODE
     * @param serviceAction SERVICE ACTION, present with SERVACTV
     * @param cdbLength CDB LENGTH in bytes
     * @param timeouts the command timeouts descriptor, if there is one
     */
    public record Command(int opcode, OptionalInt serviceAction, int cdbLength,
            Optional<Timeouts> timeouts) {
        public Command {
            CdbFields.check("opcode", opcode, 0xff);
            serviceAction.ifPresent(value -> CdbFields.check("serviceAction", value, 0xffff));
            CdbFields.check("cdbLength", cdbLength, 0xffff);
        }
    }

    static final int TIMEOUTS_LENGTH = 12;
    static final Optional<Timeouts> UNTOLD = Optional.of(new Timeouts(0, 0));

    private static final int HEADER_LENGTH = 4;
    private static final int COMMAND_LENGTH = 8;
    private static final int SERVACTV_BIT = 0;
    private static final int CTDP_BIT = 1;

    public SupportedOperationCodes {
        commands = List.copyOf(commands);
    }

    public static SupportedOperationCodes of(List<CommandDescriptor> commands,
            boolean withTimeouts) {
        return new SupportedOperationCodes(commands.stream()
                .map(command -> new Command(command.opcode(), command.serviceAction(),
                        command.cdbLength(),
                        withTimeouts ? command.timeouts().or(() -> UNTOLD) : Optional.empty()))
                .toList());
    }

    /** Reads the data; commands that are cut off are left out. */
    public static SupportedOperationCodes decode(MemorySegment bytes)
            throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "supported operation codes data of " + bytes.byteSize() + " bytes");
        }
        long end = Math.min(bytes.byteSize(), HEADER_LENGTH + BigEndian.int32(bytes, 0));
        var commands = new ArrayList<Command>();
        long at = HEADER_LENGTH;
        while (at + COMMAND_LENGTH <= end) {
            boolean hasTimeouts = BigEndian.bit(bytes, at + 5, CTDP_BIT);
            int length = COMMAND_LENGTH + (hasTimeouts ? TIMEOUTS_LENGTH : 0);
            if (at + length > end) {
                break;
            }
            commands.add(new Command(BigEndian.int8(bytes, at),
                    BigEndian.bit(bytes, at + 5, SERVACTV_BIT)
                            ? OptionalInt.of(BigEndian.int16(bytes, at + 2))
                            : OptionalInt.empty(),
                    BigEndian.int16(bytes, at + 6),
                    hasTimeouts
                            ? Optional.of(timeouts(bytes, at + COMMAND_LENGTH))
                            : Optional.empty()));
            at += length;
        }
        return new SupportedOperationCodes(commands);
    }

    @Override
    public byte[] bytes() {
        int length = commands.stream().mapToInt(
                it -> COMMAND_LENGTH + (it.timeouts().isPresent() ? TIMEOUTS_LENGTH : 0)).sum();
        byte[] array = new byte[HEADER_LENGTH + length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, length);
        int at = HEADER_LENGTH;
        for (Command command : commands) {
            BigEndian.int8(bytes, at, command.opcode());
            BigEndian.int16(bytes, at + 2, command.serviceAction().orElse(0));
            BigEndian.int8(bytes, at + 5,
                    BigEndian.bit(command.serviceAction().isPresent(), SERVACTV_BIT)
                            | BigEndian.bit(command.timeouts().isPresent(), CTDP_BIT));
            BigEndian.int16(bytes, at + 6, command.cdbLength());
            at += COMMAND_LENGTH;
            if (command.timeouts().isPresent()) {
                timeouts(bytes, at, command.timeouts().get());
                at += TIMEOUTS_LENGTH;
            }
        }
        return array;
    }

    static Timeouts timeouts(MemorySegment bytes, long at) {
        return new Timeouts(BigEndian.int32(bytes, at + 4), BigEndian.int32(bytes, at + 8));
    }

    static void timeouts(MemorySegment bytes, long at, Timeouts timeouts) {
        BigEndian.int16(bytes, at, TIMEOUTS_LENGTH - 2);
        BigEndian.int32(bytes, at + 4, timeouts.nominalS());
        BigEndian.int32(bytes, at + 8, timeouts.recommendedS());
    }
}
