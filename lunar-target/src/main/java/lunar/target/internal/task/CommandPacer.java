package lunar.target.internal.task;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Objects;
import java.util.PriorityQueue;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * Delays the commands of a session that exceed the limit of its initiator, and then that of their unit. Only commands
 * that access the medium count and are delayed; path checks and reservation commands are not. A delayed command already
 * has its data-out and is in state {@link TaskState#WAITING}, so that it can be aborted. Confined to the thread of the
 * session's event loop, except for {@link #change}.
 */
final class CommandPacer {
    /**
     * A command that one limit would delay for longer ends with TASK SET FULL, after which hosts send fewer at once:
     * well below the 30 s after which they abort one. A session without delayed commands can always have one.
     */
    private static final long MAX_DELAY_NANOS = 10_000_000_000L;

    private static final long NANOS_PER_MS = 1_000_000;
    private static final int COPY_OPERATION_ABORT = 0x1c;
    private static final int SERVICE_ACTION = 0x1f;

    /** How far a command has come. */
    private enum Stage {
        /** The limits have not been asked, or have nothing to do with it. */
        FREE,
        INITIATOR_DELAYS,
        UNIT_DELAYS,
        /** It may begin, when its turn in the task set has come. */
        ADMITTED,
        BEGUN
    }

    /** What the limits have charged a command. Each task has one, for one command after another. */
    static final class Charge {
        private final Task task;
        private Stage stage = Stage.FREE;
        private long bytes;
        private long dueNanos;
        private @Nullable RateLimiter initiator;
        private @Nullable RateLimiter unit;

        Charge(Task task) { this.task = task; }

        void clear() {
            stage = Stage.FREE;
            initiator = null;
            unit = null;
        }

        /** Records that the device server executes the command: what it takes is used, also if it is aborted. */
        void begun() {
            if (stage == Stage.ADMITTED) {
                stage = Stage.BEGUN;
            }
        }

        private boolean isDelayed() {
            return stage == Stage.INITIATOR_DELAYS || stage == Stage.UNIT_DELAYS;
        }

        /** Gives back what a command has taken that does not begin. */
        private void giveBack() {
            if (initiator != null) {
                initiator.giveBack(bytes);
            }
            if (unit != null) {
                unit.giveBack(bytes);
            }
            clear();
        }

        /** Charges what a command has transferred, in place of what it might have. */
        private void settle(long transferred) {
            if (initiator != null) {
                initiator.takeMore(transferred - bytes);
            }
            if (unit != null) {
                unit.takeMore(transferred - bytes);
            }
            clear();
        }
    }

    private final EventLoop loop;
    private final long maxTransferBytes;
    private final PriorityQueue<Charge> delayed = new PriorityQueue<>(CommandPacer::compare);
    /** Commands that were delayed by limits that have changed since. */
    private final Deque<Charge> again = new ArrayDeque<>();
    private volatile SessionRates rates = SessionRates.NONE;
    private EventLoop.@Nullable Timer timer;
    private long timerNanos;

    /** @param maxTransferBytes what a command is charged at most before it has ended */
    CommandPacer(EventLoop loop, long maxTransferBytes) {
        this.loop = loop;
        this.maxTransferBytes = maxTransferBytes;
    }

    /** Orders by the time at which commands may begin; nanoTime may wrap. */
    private static int compare(Charge one, Charge other) {
        return Long.signum(one.dueNanos - other.dueNanos);
    }

    /**
     * Returns whether a command may begin now. If not, {@link TaskSet#resume} is called when it may. A command that
     * would be delayed for too long is declined, and may begin.
     */
    boolean admits(Task task, CommandCounters counters) {
        Charge charge = task.charge();
        if (rates.isUnlimited() || charge.stage == Stage.ADMITTED || !isLimited(task)
                || admits(charge, System.nanoTime())) {
            return true;
        }
        counters.delayed();
        return false;
    }

    private boolean admits(Charge charge, long nowNanos) {
        Task task = charge.task;
        charge.bytes = Math.min(maxTransferBytes, task.server().dataInBytes(task))
                + task.out().neededBytes();
        RateLimiter initiator = rates.initiator();
        charge.initiator = initiator;
        if (initiator != null
                && !admits(initiator, charge, Stage.INITIATOR_DELAYS, nowNanos)) {
            return false;
        }
        return !task.out().isWanted() || admitsUnit(charge, nowNanos); // not if it was declined
    }

    private boolean admitsUnit(Charge charge, long nowNanos) {
        RateLimiter unit = rates.units().get(charge.task.server());
        charge.unit = unit;
        if (unit != null && !admits(unit, charge, Stage.UNIT_DELAYS, nowNanos)) {
            return false;
        }
        if (charge.task.out().isWanted()) {
            charge.stage = Stage.ADMITTED;
        }
        return true;
    }

    /** Returns whether a command may begin, or was declined; delays it if not. */
    private boolean admits(RateLimiter limiter, Charge charge, Stage stage, long nowNanos) {
        long delayNanos = limiter.take(charge.bytes, nowNanos);
        if (delayNanos == 0) {
            return true;
        }
        if (delayNanos > MAX_DELAY_NANOS && !delayed.isEmpty()) {
            charge.giveBack();
            charge.task.out().decline(Status.TASK_SET_FULL);
            return true;
        }
        charge.stage = stage;
        charge.dueNanos = nowNanos + delayNanos;
        delayed.add(charge);
        schedule(nowNanos);
        return false;
    }

    /** Ends the charge of a command that has ended with an outcome. */
    void settle(Task task) {
        Charge charge = task.charge();
        if (charge.stage == Stage.BEGUN) {
            charge.settle(task.outcome().dataInBytes() + task.out().neededBytes());
        }
    }

    /** Forgets an aborted command. It gives back what it has taken, unless it has begun. */
    void forget(Task task) {
        Charge charge = task.charge();
        if (charge.isDelayed()) {
            delayed.remove(charge);
            if (delayed.isEmpty() && timer != null) {
                timer.cancel();
                timer = null;
            }
        }
        if (charge.stage != Stage.BEGUN) {
            charge.giveBack();
        }
    }

    /** Changes the limits: at once for commands that come, a little later for those that are delayed. Any thread. */
    void change(SessionRates to) {
        if (!to.equals(rates)) {
            rates = to;
            loop.execute(this::delayAgain);
        }
    }

    /** Has the limits as they are now delay the commands that other limits have delayed. */
    private void delayAgain() {
        SessionRates now = rates;
        var changed = new ArrayList<Charge>(delayed.size());
        for (Charge charge : delayed) {
            if (charge.initiator != now.initiator() || (charge.stage == Stage.UNIT_DELAYS
                    && charge.unit != now.units().get(charge.task.server()))) {
                changed.add(charge);
            }
        }
        changed.sort(CommandPacer::compare);
        delayed.removeAll(changed);
        changed.forEach(Charge::giveBack);
        again.addAll(changed);
        goOn();
    }

    private void goOn() {
        long nowNanos = System.nanoTime();
        try {
            while (!again.isEmpty()) {
                Charge charge = again.remove();
                if (charge.task.state() == TaskState.WAITING && admits(charge, nowNanos)) {
                    resume(charge.task);
                }
            }
        } finally {
            if (!again.isEmpty()) { // after an internal error in one of them
                loop.execute(this::goOn);
            }
        }
    }

    private void schedule(long nowNanos) {
        Charge first = delayed.peek();
        if (first == null) {
            return;
        }
        if (timer != null) {
            if (timerNanos - first.dueNanos <= 0) {
                return;
            }
            timer.cancel();
        }
        timerNanos = first.dueNanos;
        timer = loop.schedule(this::begin,
                Math.ceilDiv(Math.max(0, timerNanos - nowNanos), NANOS_PER_MS));
    }

    /** Begins the commands whose delay is over, or has the limit of their unit delay them. */
    private void begin() {
        timer = null;
        long nowNanos = System.nanoTime();
        try {
            Charge first = delayed.peek();
            while (first != null && first.dueNanos - nowNanos <= 0) {
                delayed.remove();
                if (isOver(first, nowNanos)) {
                    resume(first.task);
                }
                first = delayed.peek();
            }
        } finally {
            schedule(nowNanos);
        }
    }

    private boolean isOver(Charge charge, long nowNanos) {
        if (charge.stage == Stage.INITIATOR_DELAYS) {
            return admitsUnit(charge, nowNanos);
        }
        charge.stage = Stage.ADMITTED;
        return true;
    }

    private static void resume(Task task) { Objects.requireNonNull(task.set()).resume(task); }

    /** Whether a command accesses the medium (SBC-4 section 5) or objects (OSD-2). */
    private static boolean isLimited(Task task) {
        return task.isPlain() || switch (task.opcode()) {
            case 0x08, 0x28, 0xa8, 0x88 -> true; // READ(6), (10), (12), (16)
            case 0x0a, 0x2a, 0xaa, 0x8a, 0x9c -> true; // WRITE(6), (10), (12), (16), WRITE ATOMIC(16)
            case 0x2e, 0xae, 0x8e -> true; // WRITE AND VERIFY(10), (12), (16)
            case 0x2f, 0xaf, 0x8f -> true; // VERIFY(10), (12), (16)
            case 0x41, 0x93, 0x42, 0x89, 0x8b -> true; // WRITE SAME, UNMAP, COMPARE AND WRITE, ORWRITE
            case 0x34, 0x90 -> true; // PRE-FETCH(10), (16)
            case 0x83 ->
                (task.cdbBytes().get(JAVA_BYTE, 1) & SERVICE_ACTION) != COPY_OPERATION_ABORT;
            case 0x7f -> true; // 32-byte CDBs, OSD commands
            default -> false;
        };
    }
}
