package lunar.scsi.target;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.command.CdbDecoder;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.command.CommandTable;
import lunar.scsi.command.StandardCommands;
import org.jspecify.annotations.Nullable;

/**
 * The commands that a logical unit executes. Filled by one thread before the first command; afterwards it does not
 * change and is safe to read from any thread.
 */
public final class CommandSet {
    /** Decodes the CDBs of one operation code. */
    @FunctionalInterface
    public interface Decoder {
        /**
         * Decodes a CDB, including the additional bytes of an extended CDB.
         *
         * @throws InvalidCdbException with the sense data to answer
         */
        Cdb decode(MemorySegment cdb) throws InvalidCdbException;
    }

    private final Map<Class<? extends Cdb>, CommandHandler<?>> handlers = new HashMap<>();
    private final Map<Integer, Decoder> decoders = new HashMap<>();
    private final List<CommandDescriptor> own = new ArrayList<>();
    private final List<Integer> hidden = new ArrayList<>();

    /** Creates an empty set. */
    public CommandSet() {}

    /** Adds a command. */
    public CommandSet add(CommandHandler<?> handler) {
        if (handlers.put(handler.type(), handler) != null) {
            throw new IllegalStateException(handler.type() + " has two handlers");
        }
        return this;
    }

    /** Adds a command without data-out. */
    public <C extends Cdb> CommandSet on(Class<C> type, Access access,
            BiConsumer<ScsiTask, C> execute) {
        return add(CommandHandler.of(type, access, execute));
    }

    /** Adds a command with data-out. */
    public <C extends Cdb> CommandSet on(Class<C> type, Access access,
            ToLongFunction<C> dataOutBytes, BiConsumer<ScsiTask, C> execute) {
        return add(CommandHandler.of(type, access, execute).withDataOut(dataOutBytes));
    }

    /**
     * Adds a decoder of the device type for an operation code. Replaces the standard decoder, which variable-length
     * CDBs (7Fh) and vendor-specific commands do not have. The decoder checks service actions and NACA itself.
     *
     * @param commands descriptors for REPORT SUPPORTED OPERATION CODES, with timeouts
     */
    public CommandSet withDecoder(int opcode, Decoder decoder, CommandDescriptor... commands) {
        if (decoders.put(opcode, decoder) != null) {
            throw new IllegalStateException("operation code " + opcode + " has two decoders");
        }
        own.addAll(List.of(commands));
        return this;
    }

    /** Removes a service action of a supported standard command. */
    public CommandSet without(int opcode, int serviceAction) {
        hidden.add(key(opcode, serviceAction));
        return this;
    }

    private static int key(int opcode, int serviceAction) {
        return opcode << Byte.SIZE | serviceAction;
    }

    /** Decodes a CDB. */
    Cdb decode(MemorySegment cdb) throws InvalidCdbException {
        Decoder decoder = decoders.isEmpty() || cdb.byteSize() == 0
                ? null
                : decoders.get(cdb.get(ValueLayout.JAVA_BYTE, 0) & 0xff);
        return decoder == null ? CdbDecoder.decode(cdb) : decoder.decode(cdb);
    }

    /** Whether an operation code has a decoder of the device type, which checks service actions itself. */
    boolean hasDecoder(int opcode) {
        return decoders.containsKey(opcode);
    }

    /** Returns the handler of a command; null if the command is not supported. */
    @Nullable
    CommandHandler<?> handler(Cdb cdb) { return handlers.get(cdb.getClass()); }

    /**
     * Returns the commands for REPORT SUPPORTED OPERATION CODES: supported standard commands and those of the device
     * type.
     */
    CommandTable table() {
        Stream<CommandDescriptor> standard = StandardCommands.ALL.stream()
                .filter(command -> !hasDecoder(command.opcode()) && !hidden.contains(
                        key(command.opcode(), command.serviceAction().orElse(0))))
                .filter(command -> standardHandler(command) != null)
                .map(command -> command.withTimeouts(0,
                        Objects.requireNonNull(standardHandler(command)).recommendedS()));
        return CommandTable.of(Stream.concat(standard, own.stream()).toList());
    }

    private @Nullable CommandHandler<?> standardHandler(CommandDescriptor command) {
        var cdb = MemorySegment.ofArray(new byte[command.cdbLength()]);
        cdb.set(ValueLayout.JAVA_BYTE, 0, (byte) command.opcode());
        command.serviceAction().ifPresent(
                action -> cdb.set(ValueLayout.JAVA_BYTE, 1, (byte) action));
        try {
            return handlers.get(CdbDecoder.decode(cdb).getClass());
        } catch (InvalidCdbException e) {
            throw new IllegalStateException(command.name(), e);
        }
    }
}
