package lunar.target.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import lunar.scsi.Cdb;
import lunar.scsi.CommandDescriptor;
import lunar.scsi.CommandTable;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCommands;
import org.jspecify.annotations.Nullable;

/** The commands that a device server executes: for each kind of CDB what it needs and how it is executed. */
final class CommandSet {
    /**
     * How a kind of command is executed.
     *
     * @param access what it does to the medium; the fields of the CDB may have a say in it
     * @param dataOutBytes data-out that a command needs
     * @param execute executes it
     * @param takesLess whether it judges itself what to do with less data-out; others are refused then
     */
    record Handler<C extends Cdb>(Class<C> type, Function<C, Access> access,
            ToLongFunction<C> dataOutBytes, BiConsumer<ScsiTask, C> execute, boolean takesLess) {
        Access access(Cdb cdb) { return access.apply(type.cast(cdb)); }

        long dataOut(Cdb cdb) { return dataOutBytes.applyAsLong(type.cast(cdb)); }

        void execute(ScsiTask task) { execute.accept(task, type.cast(task.cdb())); }
    }

    private final Map<Class<? extends Cdb>, Handler<?>> handlers = new HashMap<>();

    /** Adds a command with data-out. */
    <C extends Cdb> CommandSet on(Class<C> type, Access access, ToLongFunction<C> dataOutBytes,
            BiConsumer<ScsiTask, C> execute) {
        return add(new Handler<>(type, _ -> access, dataOutBytes, execute, false));
    }

    /** Adds a command that is executed also where the initiator declares less data-out than it needs. */
    <C extends Cdb> CommandSet onAnyLength(Class<C> type, Access access,
            ToLongFunction<C> dataOutBytes, BiConsumer<ScsiTask, C> execute) {
        return add(new Handler<>(type, _ -> access, dataOutBytes, execute, true));
    }

    /** Adds a command without data-out; its access depends on its CDB. */
    <C extends Cdb> CommandSet on(Class<C> type, Function<C, Access> access,
            BiConsumer<ScsiTask, C> execute) {
        return add(new Handler<>(type, access, _ -> 0, execute, false));
    }

    private CommandSet add(Handler<?> handler) {
        if (handlers.put(handler.type(), handler) != null) {
            throw new IllegalStateException(handler.type() + " has two handlers");
        }
        return this;
    }

    /** Adds a command without data-out. */
    <C extends Cdb> CommandSet on(Class<C> type, Access access, BiConsumer<ScsiTask, C> execute) {
        return on(type, access, _ -> 0, execute);
    }

    /** Returns the handler of such a command; null where it is not supported. */
    @Nullable
    Handler<?> handler(Cdb cdb) { return handlers.get(cdb.getClass()); }

    /**
     * Returns what REPORT SUPPORTED OPERATION CODES reports: the standard commands that are here.
     *
     * @param wanted leaves out service actions of a command that is here
     */
    CommandTable table(Predicate<CommandDescriptor> wanted) {
        return CommandTable.standard(wanted.and(this::has));
    }

    private boolean has(CommandDescriptor command) {
        var cdb = MemorySegment.ofArray(new byte[command.cdbLength()]);
        cdb.set(ValueLayout.JAVA_BYTE, 0, (byte) command.opcode());
        command.serviceAction().ifPresent(
                action -> cdb.set(ValueLayout.JAVA_BYTE, 1, (byte) action));
        try {
            return handlers.containsKey(Cdb.decode(cdb).getClass());
        } catch (InvalidCdbException e) {
            throw new IllegalStateException(command.name(), e);
        }
    }
}
