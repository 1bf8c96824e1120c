package lunar.initiator.internal.session;

import org.jspecify.annotations.Nullable;

/**
 * Slots of the commands at the target, as many as the queue depth. Guarded by the lock of {@link Tasks}.
 *
 * <p>An Initiator Task Tag consists of a slot number and a generation, so that finding a task is an array access, and a
 * late PDU of an earlier task of the slot is detected.
 */
final class Slots {
    private static final int SLOT_MASK = 0xffff;
    private static final int GENERATION_SHIFT = 16;

    private final @Nullable Command[] commands;
    private final int[] generations;
    private final int[] free;
    private int freeCount;

    Slots(int count) {
        commands = new Command[count];
        generations = new int[count];
        free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = count - 1 - i;
        }
        freeCount = count;
    }

    boolean hasFree() { return freeCount > 0; }

    /** Gives a command a slot and a tag. */
    void add(Command command) {
        int slot = free[--freeCount];
        int generation = (generations[slot] + 1) & SLOT_MASK;
        generations[slot] = generation;
        command.slot = slot;
        command.itt = generation << GENERATION_SHIFT | slot;
        commands[slot] = command;
    }

    void remove(Command command) {
        commands[command.slot] = null;
        free[freeCount++] = command.slot;
    }

    @Nullable
    Command find(int itt) {
        int slot = itt & SLOT_MASK;
        Command found = slot < commands.length ? commands[slot] : null;
        return found != null && found.itt == itt ? found : null;
    }

    /** Returns all slots, with null in those that are free; not to be changed. */
    @Nullable
    Command[] all() { return commands; }
}
