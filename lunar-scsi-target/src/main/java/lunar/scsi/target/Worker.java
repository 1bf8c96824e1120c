package lunar.scsi.target;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lunar.block.AbortedException;
import lunar.block.StorageException;

/**
 * Runs the blocking work of a command on threads of its own. After the command has been detached from a hanging worker,
 * the worker can no longer use any device, and the devices that it has used are fenced as a whole. Thread-safe.
 */
public final class Worker {
    private static final InheritableThreadLocal<Worker> CURRENT = new InheritableThreadLocal<>();

    private final Set<FencedDevice> used = new HashSet<>();
    private boolean leftBehind;

    public Worker() {}

    /** Runs the work; the worker covers this thread and the threads that the work starts. */
    public void run(Runnable work) {
        CURRENT.set(this);
        try {
            work.run();
        } finally {
            CURRENT.remove();
        }
    }

    /**
     * Detaches the command from the worker and fences its devices.
     *
     * @return fences to lift when the work has ended; empty if the worker cannot be detached, because it is not in a
     *         device or the limit of fenced requests is reached
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

    /** Called when this thread is about to use a device; fails if its worker has been detached. */
    static void using(FencedDevice device) throws StorageException {
        Worker worker = CURRENT.get();
        if (worker != null) {
            worker.use(device);
        }
    }
}
