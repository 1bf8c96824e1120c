package lunar.scsi.target;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lunar.block.AbortedException;
import lunar.block.StorageException;

/**
 * Works at a command on threads of its own and uses devices there as the work goes. Once it is left behind it can use
 * no device any more, and those that it has used are fenced as a whole. Thread-safe.
 */
public final class Worker {
    private static final InheritableThreadLocal<Worker> CURRENT = new InheritableThreadLocal<>();

    private final Set<FencedDevice> used = new HashSet<>();
    private boolean leftBehind;

    public Worker() {}

    /** Runs the work; what it does on this thread, and on those that it starts, is the worker's. */
    public void run(Runnable work) {
        CURRENT.set(this);
        try {
            work.run();
        } finally {
            CURRENT.remove();
        }
    }

    /**
     * Leaves the worker behind: goes on without it.
     *
     * @return fences to lift when it has ended; empty if it cannot be left behind, because it has used no device or too
     *         much is fenced already
     */
    public synchronized Optional<List<FencedDevice.Confined>> leaveBehind() {
        if (used.isEmpty()) {
            return Optional.empty();
        }
        var fences = new ArrayList<FencedDevice.Confined>();
        for (FencedDevice device : used) {
            Optional<FencedDevice.Confined> fence = device.confine();
            if (fence.isEmpty()) {
                fences.forEach(FencedDevice.Confined::lift);
                return Optional.empty();
            }
            fences.add(fence.get());
        }
        leftBehind = true;
        return Optional.of(fences);
    }

    private synchronized void use(FencedDevice device) throws StorageException {
        if (leftBehind) {
            throw new AbortedException("the command was aborted");
        }
        used.add(device);
    }

    /** Called when this thread is about to use a device; fails where its worker is left behind. */
    static void using(FencedDevice device) throws StorageException {
        Worker worker = CURRENT.get();
        if (worker != null) {
            worker.use(device);
        }
    }
}
