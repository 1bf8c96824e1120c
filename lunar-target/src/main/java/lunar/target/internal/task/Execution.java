package lunar.target.internal.task;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Status;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.FencedDevice;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StorageSense;
import lunar.scsi.target.Worker;
import org.jspecify.annotations.Nullable;

/**
 * Runs the work of a task outside its event loop: a device request, or work on a separate thread. Confined to the event
 * loop's thread, to which completions are dispatched.
 */
final class Execution implements BlockRequest.Completion, Runnable {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final Task task;
    private final EventLoop loop;
    private final BlockRequest request = new BlockRequest();
    private @Nullable StorageException failure;
    private ScsiTask.@Nullable Ending ending;

    /** The device that has {@link #request} now. */
    private @Nullable BlockDevice submittedTo;
    private @Nullable Worker worker;
    private List<FencedDevice.Confined> confined = List.of();
    private boolean takesTurns;
    private boolean begun;

    Execution(Task task, EventLoop loop) {
        this.task = task;
        this.loop = loop;
    }

    BlockRequest request() { return request; }

    /** Clears all references, in particular to the memory of the last request. */
    void clear() {
        request.asFlush().onCompletion(this);
        failure = null;
        ending = null;
        submittedTo = null;
        worker = null;
        confined = List.of();
        takesTurns = false;
        begun = false;
    }

    /** Has the device server execute the task. */
    void execute(DeviceServer server) {
        begun = true;
        try {
            server.execute(task);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            task.failed(e);
        }
    }

    void submit(BlockDevice device, ScsiTask.Ending then) {
        ending = then;
        if (task.aborted()) { // the next step of an aborted command
            completed(request, new AbortedException("the command was aborted"));
            return;
        }
        submittedTo = device;
        try {
            device.submit(request);
        } catch (RuntimeException e) { // a bug: submit must not throw
            LOG.log(System.Logger.Level.ERROR, "internal error of the device of LUN " + task.lun(),
                    e);
            if (submittedTo != null) { // not completed already
                completed(request, new DeviceGoneException("internal error of the device", e));
            }
        }
    }

    void submitPiece(BlockDevice device, ScsiTask.Ending then) {
        takesTurns = true;
        submit(device, then);
    }

    void work(Callable<Consumer<ScsiTask>> blocking) {
        var busy = new Worker();
        worker = busy;
        Thread.ofVirtual().name("lunar-command").start(() -> perform(busy, blocking));
    }

    /** Runs brief work on this thread after the current iteration of the loop, or on an executor. */
    void workBriefly(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        work(work -> loop.executeBriefly(work, executor), blocking);
    }

    /** Runs work on an executor, unless the task is aborted while the work waits there. */
    void work(Executor executor, Callable<Consumer<ScsiTask>> blocking) {
        var busy = new Worker();
        worker = busy;
        var taken = new AtomicBoolean();
        task.whenAborted(() -> {
            if (!taken.getAndSet(true)) {
                endWith(ended -> StorageSense.end(ended,
                        new AbortedException("the command was aborted")));
            }
        });
        try {
            executor.execute(() -> {
                if (!taken.getAndSet(true)) {
                    perform(busy, blocking);
                }
            });
        } catch (RejectedExecutionException _) {
            if (!taken.getAndSet(true)) {
                worker = null;
                task.end(Status.BUSY);
            }
        }
    }

    private void perform(Worker by, Callable<Consumer<ScsiTask>> blocking) {
        by.run(() -> endWith(outcome(blocking)));
    }

    private void endWith(Consumer<ScsiTask> outcome) {
        ending = (_, _) -> outcome.accept(task);
        resume(true);
    }

    /** Runs the work; maps a failure to the outcome that reports it. */
    private Consumer<ScsiTask> outcome(Callable<Consumer<ScsiTask>> blocking) {
        try {
            return blocking.call();
        } catch (StorageException e) {
            return ended -> StorageSense.end(ended, e);
        } catch (IllegalRequestException e) {
            return ended -> ended.checkCondition(e.sense());
        } catch (Exception | StackOverflowError | OutOfMemoryError e) {
            return _ -> task.failed(e);
        }
    }

    @Override
    public void completed(BlockRequest done, @Nullable StorageException why) {
        failure = why;
        resume(takesTurns);
    }

    /** Continues the task on the event loop's thread, immediately if called there, or in its turn. */
    private void resume(boolean inTurn) {
        if (!inTurn && loop.inLoop()) {
            run();
            return;
        }
        try {
            loop.execute(this);
        } catch (RejectedExecutionException _) {
            // The server has closed after the timeout for this device; no connection is left.
        }
    }

    /** Continues the task after its work has ended. On the event loop's thread. */
    @Override
    public void run() {
        submittedTo = null;
        worker = null;
        try {
            Objects.requireNonNull(ending).ended(task, failure);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            task.failed(e);
        }
    }

    /** Fences the blocks that a hanging aborted task may still change; returns false if they are not known. */
    boolean fence() {
        Optional<List<FencedDevice.Confined>> fences = Optional.empty();
        if (submittedTo instanceof FencedDevice device) {
            fences = device.confine(request).map(List::of);
        } else if (worker != null) {
            fences = worker.leaveBehind();
        }
        if (fences.isEmpty()) {
            return false;
        }
        confined = fences.get();
        return true;
    }

    /** Lifts the fences after the work has ended, and reports the end to the device server. */
    void ended(DeviceServer server) {
        if (!confined.isEmpty()) {
            confined.forEach(FencedDevice.Confined::lift);
            confined = List.of();
        }
        if (begun) { // after the fence is lifted, which an erasure waits for
            server.ended(task);
        }
    }
}
