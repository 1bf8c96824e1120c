package lunar.scsi.target;

import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import lunar.scsi.Cdb;
import lunar.scsi.primary.TargetPortGroups.State;

/**
 * Handler of one type of command: executes it, and states the conditions under which it is rejected. Immutable.
 *
 * @param type class of the CDB
 * @param access its access to the device, which may depend on fields of the CDB
 * @param dataOutBytes length of data-out that a command needs
 * @param execute executes the command and ends its task, like {@link DeviceServer#execute}
 * @param takesLess whether the handler accepts less data-out than needed; otherwise such a command is rejected
 * @param forReaders whether a read-only initiator may send it
 * @param passes whether the command is permitted through a port in a state other than active (SPC-5 section 5.18.2)
 * @param recommendedS RECOMMENDED COMMAND TIMEOUT of a standard command in seconds (SPC-5 section 6.35.4)
 */
public record CommandHandler<C extends Cdb>(Class<C> type, Function<C, Access> access,
        ToLongFunction<C> dataOutBytes, BiConsumer<ScsiTask, C> execute, boolean takesLess,
        Function<C, ReaderRule> forReaders, BiPredicate<C, State> passes, int recommendedS) {
    /** Length of data-out that stands for the length that the initiator declares. */
    static final long ANY_LENGTH = -1;

    /** Timeout of a transfer, which may include the spin-up of a disk. */
    private static final int TRANSFER_S = 60;
    /** Timeout of a command whose duration is bounded by the size of the device at most. */
    private static final int LONG_S = 600;

    /** Returns the handler of a command without data-out, whose access depends on its CDB. */
    public static <C extends Cdb> CommandHandler<C> of(Class<C> type, Function<C, Access> access,
            BiConsumer<ScsiTask, C> execute) {
        return new CommandHandler<>(type, access, _ -> 0, execute, false,
                command -> ReaderRule.of(access.apply(command)), (_, _) -> false, TRANSFER_S);
    }

    /** Returns the handler of a command without data-out. */
    public static <C extends Cdb> CommandHandler<C> of(Class<C> type, Access access,
            BiConsumer<ScsiTask, C> execute) {
        return of(type, _ -> access, execute);
    }

    /** Returns a copy for a command with data-out. */
    public CommandHandler<C> withDataOut(ToLongFunction<C> bytes) {
        return new CommandHandler<>(type, access, bytes, execute, takesLess, forReaders, passes,
                recommendedS);
    }

    /** Returns a copy that also executes commands with less data-out than they need. */
    public CommandHandler<C> takingLess() {
        return new CommandHandler<>(type, access, dataOutBytes, execute, true, forReaders, passes,
                recommendedS);
    }

    /** Returns a copy that accepts any length of data-out that the initiator declares. */
    public CommandHandler<C> takingAnyDataOut() {
        return withDataOut(_ -> ANY_LENGTH);
    }

    /** Returns a copy with a rule for read-only initiators in place of the one that its access implies. */
    public CommandHandler<C> forReaders(ReaderRule rule) {
        return forReaders(_ -> rule);
    }

    /** Like {@link #forReaders(ReaderRule)}, but the rule depends on the fields of the CDB. */
    public CommandHandler<C> forReaders(Function<C, ReaderRule> rule) {
        return new CommandHandler<>(type, access, dataOutBytes, execute, takesLess, rule, passes,
                recommendedS);
    }

    /** Returns a copy that also executes commands in these states of a port. */
    public CommandHandler<C> passing(BiPredicate<C, State> states) {
        return new CommandHandler<>(type, access, dataOutBytes, execute, takesLess, forReaders,
                states, recommendedS);
    }

    /** Returns a copy with a long timeout, for a command whose CDB does not bound its duration. */
    public CommandHandler<C> takingLong() {
        return new CommandHandler<>(type, access, dataOutBytes, execute, takesLess, forReaders,
                passes, LONG_S);
    }

    Access accessOf(Cdb cdb) { return access.apply(type.cast(cdb)); }

    long dataOutOf(Cdb cdb) { return dataOutBytes.applyAsLong(type.cast(cdb)); }

    ReaderRule readerRuleOf(Cdb cdb) { return forReaders.apply(type.cast(cdb)); }

    boolean passes(Cdb cdb, State state) { return passes.test(type.cast(cdb), state); }

    void execute(ScsiTask task) { execute.accept(task, type.cast(task.cdb())); }
}
