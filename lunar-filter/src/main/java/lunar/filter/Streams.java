package lunar.filter;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Detects several concurrent sequential readers of a device among random reads, and computes what to read ahead for
 * them. Works on block numbers only; guarded by the caller's lock.
 *
 * <p>A read that begins where one of the last {@link #CANDIDATES} ended starts a stream. The read-ahead window of a
 * stream grows with each step up to its maximum, and is refilled when half of it is used, so that a reader that is not
 * faster than the device never waits. A slightly reordered read, as with several in flight, still belongs to its
 * stream. Beyond {@link #STREAMS} streams the least recently used one is dropped.
 */
final class Streams {
    static final int CANDIDATES = 32;
    static final int STREAMS = 16;

    /** Blocks to read ahead. */
    record Ahead(long lba, long blockCount) {}

    private static final class Stream {
        /** Where the next read begins. */
        long next;
        /** Up to where was read ahead. */
        long ahead;
        long window;
        long lastRead;
    }

    private final long maxWindow;
    private final long[] ends = new long[CANDIDATES];
    private final @Nullable Stream[] streams = new Stream[STREAMS];
    private int candidate;
    private long reads;

    /** @param maxWindow blocks that are read ahead at most */
    Streams(long maxWindow) {
        this.maxWindow = maxWindow;
        Arrays.fill(ends, -1);
    }

    /**
     * Handles a read.
     *
     * @param mayAsk whether the caller can read ahead now; if not, the request is repeated with a later read
     * @return what to read ahead; null if there is nothing
     */
    @Nullable
    Ahead read(long lba, long blockCount, long deviceBlocks, boolean mayAsk) {
        reads++;
        Stream stream = find(lba);
        long end = lba + blockCount;
        if (stream == null) {
            if (!isCandidate(lba, end)) {
                return null;
            }
            stream = replaceOldest();
            stream.next = end;
            stream.ahead = end;
            stream.window = Math.min(maxWindow, 2 * blockCount);
        }
        stream.lastRead = reads;
        stream.next = Math.max(stream.next, end);
        stream.ahead = Math.max(stream.ahead, stream.next);
        long until = Math.min(stream.next + stream.window, deviceBlocks);
        if (!mayAsk || blockCount > maxWindow || until <= stream.ahead
                || stream.ahead - stream.next > stream.window / 2) {
            return null;
        }
        var ahead = new Ahead(stream.ahead, until - stream.ahead);
        stream.ahead = until;
        stream.window = Math.min(maxWindow, 2 * stream.window);
        return ahead;
    }

    private @Nullable Stream find(long lba) {
        for (Stream stream : streams) {
            if (stream != null && lba <= stream.ahead && lba >= stream.next - stream.window) {
                return stream;
            }
        }
        return null;
    }

    /** Whether a read continues where another ended; if not, one may continue where it ends. */
    private boolean isCandidate(long lba, long end) {
        for (int i = 0; i < CANDIDATES; i++) {
            if (ends[i] == lba) {
                ends[i] = -1;
                return true;
            }
        }
        ends[candidate] = end;
        candidate = (candidate + 1) % CANDIDATES;
        return false;
    }

    private Stream replaceOldest() {
        int oldest = 0;
        for (int i = 0; i < STREAMS; i++) {
            Stream stream = streams[i];
            Stream before = streams[oldest];
            if (stream == null) {
                oldest = i;
                break;
            }
            if (before != null && stream.lastRead < before.lastRead) {
                oldest = i;
            }
        }
        var made = new Stream();
        streams[oldest] = made;
        return made;
    }
}
