package lunar.scsi.target;

import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import lunar.scsi.Cdb;
import lunar.scsi.primary.TargetPortGroups.State;

/**
 * How a kind of command is executed, and when it is refused. Immutable.
 *
 * @param type the kind
 * @param access what it does to the device; the fields of the CDB may have a say in it
 * @param dataOutBytes data-out that a command needs
 * @param execute executes it and ends its task, by the rules of {@link DeviceServer#execute}
 * @param takesLess whether it decides itself what to do with less data-out; others are refused then
 * @param forReaders whether an initiator may send it that may only read
 * @param passes whether it is executed through a port in a state other than active (SPC-5 section 5.18.2)
 * @param recommendedS RECOMMENDED COMMAND TIMEOUT of a standard command in seconds (SPC-5 section 6.35.4)
 */
public record CommandHandler<C extends Cdb>(Class<C> type, Function<C, Access> access,
        ToLongFunction<C> dataOutBytes, BiConsumer<ScsiTask, C> execute, boolean takesLess,
        Function<C, ReaderRule> forReaders, BiPredicate<C, State> passes, int recommendedS) {
    /** In place of a length of data-out: as much as the initiator declares. */
    static final long ANY_LENGTH = -1;

    /** A transfer, with a disk that has to wake up first. */
    private static final int TRANSFER_S = 60;
    /** Work of a length that the CDB does not bound, or only by the size of the device. */
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

    /** Returns this handler for a command with data-out. */
    public CommandHandler<C> withDataOut(ToLongFunction<C> bytes) {
        return new CommandHandler<>(type, access, bytes, execute, takesLess, forReaders, passes,
                recommendedS);
    }

    /** Returns this handler, which executes also commands that declare less data-out than they need. */
    public CommandHandler<C> takingLess() {
        return new CommandHandler<>(type, access, dataOutBytes, execute, true, forReaders, passes,
                recommendedS);
    }

    /** Returns this handler, which takes whatever data-out the initiator declares. */
    public CommandHandler<C> takingAnyDataOut() {
        return withDataOut(_ -> ANY_LENGTH);
    }

    /** Returns this handler with another rule for initiators that may only read than its access implies. */
    public CommandHandler<C> forReaders(ReaderRule rule) {
        return forReaders(_ -> rule);
    }

    /** Like {@link #forReaders(ReaderRule)}, by the fields of the CDB. */
    public CommandHandler<C> forReaders(Function<C, ReaderRule> rule) {
        return new CommandHandler<>(type, access, dataOutBytes, execute, takesLess, rule, passes,
                recommendedS);
    }

    /** Returns this handler, which executes commands in these states of a port too. */
    public CommandHandler<C> passing(BiPredicate<C, State> states) {
        return new CommandHandler<>(type, access, dataOutBytes, execute, takesLess, forReaders,
                states, recommendedS);
    }

    /** Returns this handler for a command whose CDB does not bound its length. */
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
