package lunar.raid.metadata.checksum;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import org.jspecify.annotations.Nullable;

/**
 * A page of checksums in memory. It stays until all that has changed in it is stable on the member: the write of the
 * page has succeeded, and so has a flush that began later. Guarded by its {@link ChecksumCache}.
 */
final class ChecksumPage {
    final Page page = new Page();
    /** Requests that wait until it is there. */
    final List<ChecksumRequest> waiters = new ArrayList<>();
    long number;
    /** Requests that need it to stay. */
    int pins;
    boolean isLoaded;
    boolean isWriting;
    /** Whether the cache counts it among those that are not stable. */
    boolean isCounted;
    /** Why the page could not be read. */
    @Nullable
    StorageException failure;
    /** Places of the checksums that have changed since the page was written last. */
    private final BitSet changed = new BitSet(ChecksumFormat.PER_PAGE);
    /** Places of those that were written, and may be lost with the member's cache. */
    private final BitSet written = new BitSet(ChecksumFormat.PER_PAGE);
    /** The last flush that had begun when the page was written. */
    private long flushBefore;

    ChecksumPage reset(long newNumber) {
        number = newNumber;
        pins = 0;
        isLoaded = false;
        isWriting = false;
        failure = null;
        return this;
    }

    boolean mayGo() { return pins == 0 && isLoaded && isStable(); }

    /** Whether it has something that was not written to the member. */
    boolean isDirty() {
        return !changed.isEmpty();
    }

    /** Whether the member keeps all of it. */
    boolean isStable() {
        return changed.isEmpty() && written.isEmpty() && !isWriting;
    }

    int checksum(long block) { return page.bytes().getInt(ChecksumFormat.at(block)); }

    /** Changes a checksum; the same one again changes nothing. */
    void checksum(long block, int checksum) {
        int at = ChecksumFormat.at(block);
        if (page.bytes().getInt(at) != checksum) {
            page.bytes().putInt(at, checksum);
            changed.set(ChecksumFormat.place(block));
        }
    }

    /** Its write begins. */
    void beginWrite() {
        written.or(changed);
        changed.clear();
        isWriting = true;
    }

    /** Its write has ended. */
    void endWrite(boolean succeeded, long lastFlush) {
        isWriting = false;
        flushBefore = lastFlush;
        if (!succeeded) {
            writeAgain();
        }
    }

    /** What was written and is not stable is to be written again. */
    void writeAgain() {
        changed.or(written);
        written.clear();
    }

    /** A flush has succeeded: the page is stable if it was written before that began. */
    void flushed(long flush) {
        if (!isWriting && flushBefore < flush) {
            written.clear();
        }
    }

    /** The member's cache is lost: nothing is known of blocks whose checksums have changed and are not stable. */
    void forget() {
        writeAgain();
        for (int place = changed.nextSetBit(0); place >= 0; place = changed
                .nextSetBit(place + 1)) {
            page.bytes().putInt(ChecksumFormat.at(place), ChecksumFormat.UNKNOWN);
        }
    }
}
