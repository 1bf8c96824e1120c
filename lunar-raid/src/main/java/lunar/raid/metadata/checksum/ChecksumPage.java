package lunar.raid.metadata.checksum;

import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import org.jspecify.annotations.Nullable;

/** A page of checksums in memory. Guarded by its {@link ChecksumCache}. */
final class ChecksumPage {
    final Page page = new Page();
    /** Requests that wait until it is there. */
    final List<ChecksumRequest> waiters = new ArrayList<>();
    long number;
    /** Requests that need it to stay. */
    int pins;
    boolean isLoaded;
    /** Whether it has something that is not on the member. */
    boolean isDirty;
    boolean isWriting;
    /** Why the page could not be read. */
    @Nullable
    StorageException failure;

    ChecksumPage reset(long newNumber) {
        number = newNumber;
        pins = 0;
        isLoaded = false;
        isDirty = false;
        isWriting = false;
        failure = null;
        return this;
    }

    boolean mayGo() { return pins == 0 && isLoaded && !isDirty && !isWriting; }

    int checksum(long block) { return page.bytes().getInt(ChecksumFormat.at(block)); }

    void checksum(long block, int checksum) {
        page.bytes().putInt(ChecksumFormat.at(block), checksum);
    }
}
