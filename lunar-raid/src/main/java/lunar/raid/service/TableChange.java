package lunar.raid.service;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.Completion;

/** A change of a volume's table of members. */
@FunctionalInterface
interface TableChange {
    /** @param completion called when the change is stable */
    void make(Completion completion) throws StorageException;

    /** Makes a change, and waits until it is stable. */
    static void await(TableChange change, Duration most) throws StorageException {
        var end = new CompletableFuture<Optional<StorageException>>();
        change.make(failure -> end.complete(Optional.ofNullable(failure)));
        try {
            Optional<StorageException> failure = end.get(most.toNanos(), TimeUnit.NANOSECONDS);
            if (failure.isPresent()) {
                throw failure.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceGoneException("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new BusyException("the members have not noted it yet: try again", e);
        }
    }
}
