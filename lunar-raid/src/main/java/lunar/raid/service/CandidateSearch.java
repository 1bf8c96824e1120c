package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.metadata.Candidate;
import org.jspecify.annotations.Nullable;

/** Devices that may belong to a volume, opened side by side and looked at. For one thread. */
final class CandidateSearch {
    /** A device that was opened, or could not be. */
    static final class Found {
        final String uri;
        @Nullable
        BlockDevice device;
        Candidate candidate;

        private Found(String uri, @Nullable BlockDevice device, Candidate candidate) {
            this.uri = uri;
            this.device = device;
            this.candidate = candidate;
        }

        /** Reads again what is on the device, bypassing caches. Blocks. */
        void lookAgain() {
            if (device != null) {
                device.forget(0, device.blockCount());
                candidate = Candidate.of(uri, device);
            }
        }

        /** Closes a device that does not take writes; it counts as missing. */
        void leaveOut(String why) {
            closeQuietly(device);
            device = null;
            candidate = Candidate.unreachable(uri, why);
        }

        /** Closes the device, which is not used. */
        void close() {
            closeQuietly(device);
            device = null;
        }
    }

    private CandidateSearch() {}

    /** Opens all devices; one that is not open in time counts as missing, and is closed once it is. Blocks. */
    static List<Found> open(List<String> uris, MemberOpener opener, RunTiming timing,
            Executor workers) {
        var opening = new ArrayList<CompletableFuture<Found>>();
        for (String uri : uris) {
            opening.add(CompletableFuture.supplyAsync(() -> open(uri, opener), workers));
        }
        var found = new ArrayList<Found>();
        long until = System.nanoTime() + timing.open().toNanos();
        for (int i = 0; i < uris.size(); i++) {
            found.add(await(uris.get(i), opening.get(i), until - System.nanoTime()));
        }
        return found;
    }

    private static Found await(String uri, CompletableFuture<Found> one, long waitNs) {
        var late = new Found(uri, null, Candidate.unreachable(uri, "it does not answer"));
        Found first = one.copy().completeOnTimeout(late, Math.max(0, waitNs), TimeUnit.NANOSECONDS)
                .join();
        if (first.equals(late)) {
            var _ = one.thenAccept(Found::close);
        }
        return first;
    }

    private static Found open(String uri, MemberOpener opener) {
        BlockDevice device;
        try {
            device = opener.open(uri);
        } catch (StorageException | IllegalArgumentException e) {
            return new Found(uri, null,
                    Candidate.unreachable(uri, String.valueOf(e.getMessage())));
        }
        return new Found(uri, device, Candidate.of(uri, device));
    }

    static void closeQuietly(@Nullable BlockDevice device) {
        if (device != null) {
            try {
                device.close();
            } catch (StorageException _) {
                // It is not used any more.
            }
        }
    }
}
