package lunar.osd.target.command;

import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.sense.CommandFunction;
import lunar.osd.wire.sense.ObjectIdentification;

/**
 * The functions of a command: those that were not begun and those that are complete, which sense data report. A
 * function that has failed, or was undone, is neither. Belongs to the thread of its command.
 */
final class FunctionProgress {
    private final Set<CommandFunction> notInitiated = EnumSet.of(
            CommandFunction.COMMAND_CAPABILITY, CommandFunction.COMMAND);
    private final Set<CommandFunction> completed = EnumSet.noneOf(CommandFunction.class);
    private final Set<CommandFunction> lasting = EnumSet.noneOf(CommandFunction.class);

    /** Starts with the validation of a command that gets or sets attributes, or neither. */
    FunctionProgress(boolean gets, boolean sets) {
        if (gets) {
            notInitiated.add(CommandFunction.GET_ATTRIBUTES_CAPABILITY);
            notInitiated.add(CommandFunction.GET_ATTRIBUTES);
        }
        if (sets) {
            notInitiated.add(CommandFunction.SET_ATTRIBUTES_CAPABILITY);
            notInitiated.add(CommandFunction.SET_ATTRIBUTES);
        }
    }

    /** Records that the command is valid, and admitted. */
    void validated() {
        completed.add(CommandFunction.VALIDATION);
        for (CommandFunction capability : Set.of(CommandFunction.COMMAND_CAPABILITY,
                CommandFunction.GET_ATTRIBUTES_CAPABILITY,
                CommandFunction.SET_ATTRIBUTES_CAPABILITY)) {
            if (notInitiated.remove(capability)) {
                completed.add(capability);
            }
        }
    }

    /** Records that a function begins. */
    void begin(CommandFunction function) {
        notInitiated.remove(function);
    }

    /** Records that a function is complete. */
    void complete(CommandFunction function) {
        notInitiated.remove(function);
        completed.add(function);
    }

    /** Records that a function is complete that has changed nothing, so that it is never undone. */
    void completeLasting(CommandFunction function) {
        complete(function);
        lasting.add(function);
    }

    /** Returns the functions that are complete, before a change that may be undone. */
    Set<CommandFunction> completed() {
        return EnumSet.copyOf(completed);
    }

    /** Records that the functions of a change were undone with it. */
    void undo(Set<CommandFunction> completedBefore) {
        completed.removeIf(function -> !completedBefore.contains(function)
                && !lasting.contains(function));
    }

    /** Returns what an error reports. */
    ObjectIdentification identification(ObjectId object) {
        return new ObjectIdentification(notInitiated, completed, object);
    }

    /** Returns what an error in a CDB reports that is not decoded: anything but the validation was not begun. */
    static ObjectIdentification invalid(ObjectId object) {
        return new ObjectIdentification(
                EnumSet.complementOf(EnumSet.of(CommandFunction.VALIDATION)), Set.of(), object);
    }
}
