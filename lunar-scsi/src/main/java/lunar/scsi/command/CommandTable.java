package lunar.scsi.command;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.ParameterData;
import lunar.scsi.command.SupportedOperationCode.Support;

/** The commands a device server supports: answers REPORT SUPPORTED OPERATION CODES (SPC-5). Immutable. */
public final class CommandTable {
    private static final int OPTIONS_BIT = 2;

    private final List<CommandDescriptor> commands;

    private CommandTable(List<CommandDescriptor> commands) { this.commands = commands; }

    /** These commands. */
    public static CommandTable of(List<CommandDescriptor> commands) {
        return new CommandTable(commands.stream()
                .sorted(Comparator.comparingInt(CommandDescriptor::opcode)
                        .thenComparingInt(command -> command.serviceAction().orElse(0)))
                .toList());
    }

    /** Returns a table of the commands of {@link StandardCommands#ALL} that match a predicate. */
    public static CommandTable standard(Predicate<CommandDescriptor> wanted) {
        return of(StandardCommands.ALL.stream().filter(wanted).toList());
    }

    /** In ascending order of operation code and service action. */
    public List<CommandDescriptor> commands() {
        return commands;
    }

    /** The command of an operation code, and of a service action where the operation code has some. */
    public Optional<CommandDescriptor> find(int opcode, int serviceAction) {
        return commands.stream().filter(command -> command.matches(opcode, serviceAction))
                .findFirst();
    }

    /** The descriptor of a command, if it is supported. */
    public Optional<CommandDescriptor> find(Cdb cdb) {
        return find(cdb.opcode(), cdb.bytes()[1] & 0x1f);
    }

    /**
     * Answers REPORT SUPPORTED OPERATION CODES.
     *
     * @throws InvalidCdbException for a REPORTING OPTIONS that is reserved, or does not go with the operation code
     */
    public ParameterData answer(ReportSupportedOperationCodes cdb) throws InvalidCdbException {
        int opcode = cdb.requestedOpcode();
        int serviceAction = cdb.requestedServiceAction();
        boolean known = commands.stream().anyMatch(command -> command.opcode() == opcode);
        boolean hasActions = commands.stream().anyMatch(
                command -> command.opcode() == opcode && command.serviceAction().isPresent());
        Optional<CommandDescriptor> found = switch (cdb.reportingOptions()) {
            case ReportSupportedOperationCodes.ALL -> {
                yield Optional.empty();
            }
            case ReportSupportedOperationCodes.ONE_OPCODE -> {
                if (hasActions) {
                    throw InvalidCdbException.field(2, OPTIONS_BIT);
                }
                yield find(opcode, 0);
            }
            case ReportSupportedOperationCodes.ONE_SERVICE_ACTION -> {
                if (known && !hasActions) {
                    throw InvalidCdbException.field(2, OPTIONS_BIT);
                }
                yield find(opcode, serviceAction);
            }
            case ReportSupportedOperationCodes.ONE_EITHER -> hasActions || serviceAction == 0
                    ? find(opcode, serviceAction)
                    : Optional.empty();
            default -> throw InvalidCdbException.field(2, OPTIONS_BIT);
        };
        if (cdb.reportingOptions() == ReportSupportedOperationCodes.ALL) {
            return SupportedOperationCodes.of(commands, cdb.rctd());
        }
        return found
                .map(command -> new SupportedOperationCode(Support.STANDARD, command.usage(),
                        cdb.rctd()
                                ? command.timeouts().or(() -> SupportedOperationCodes.UNTOLD)
                                : Optional.empty()))
                .orElse(SupportedOperationCode.NOT_SUPPORTED);
    }
}
