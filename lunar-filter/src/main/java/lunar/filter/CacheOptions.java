package lunar.filter;

import lunar.block.Size;

/**
 * Settings of a {@link CacheFilter}.
 *
 * @param capacityBytes memory for pages, allocated on demand
 * @param pageBytes unit of caching and eviction: a power of two from the device's block size to 1 MiB
 * @param readAheadBytes maximum read-ahead of a sequential reader, up to a quarter of the capacity;
 *        {@link #NO_READ_AHEAD} for none
 * @param policy eviction policy
 */
public record CacheOptions(long capacityBytes, int pageBytes, long readAheadBytes,
        CachePolicy.Factory policy) {
    /** {@link #readAheadBytes} of a cache that never reads ahead. */
    public static final long NO_READ_AHEAD = 0;

    /** Page size unless another one is asked for: that of most file systems and memories. */
    public static final int DEFAULT_PAGE_BYTES = 4096;

    private static final long DEFAULT_READ_AHEAD_BYTES = 512 << 10;
    private static final long MAX_READ_AHEAD_BYTES = 16 << 20;
    private static final int MIN_PAGES = 16;
    private static final int MAX_PAGES = 1 << 26;

    public CacheOptions {
        if (pageBytes < 512 || pageBytes > PageCache.CHUNK_BYTES
                || Integer.bitCount(pageBytes) != 1) {
            throw new IllegalArgumentException(
                    "the page size of a cache must be a power of two from 512 bytes to 1 MiB, not "
                            + pageBytes);
        }
        if (capacityBytes / pageBytes < MIN_PAGES || capacityBytes / pageBytes > MAX_PAGES) {
            throw new IllegalArgumentException("a cache of " + Size.format(capacityBytes)
                    + " has fewer than " + MIN_PAGES + " or more than " + MAX_PAGES
                    + " pages of " + Size.format(pageBytes));
        }
        if (readAheadBytes < 0 || readAheadBytes > capacityBytes / 4
                || readAheadBytes > MAX_READ_AHEAD_BYTES) {
            throw new IllegalArgumentException("a cache of " + Size.format(capacityBytes)
                    + " reads at most " + Size.format(Math.min(capacityBytes / 4,
                            MAX_READ_AHEAD_BYTES))
                    + " ahead, not " + Size.format(readAheadBytes));
        }
    }

    /** A cache with S3-FIFO, pages of 4 KiB, and up to 512 KiB of read-ahead. */
    public static CacheOptions of(long capacityBytes) {
        return new CacheOptions(capacityBytes, DEFAULT_PAGE_BYTES,
                Math.min(DEFAULT_READ_AHEAD_BYTES, Math.max(0, capacityBytes / 8)),
                CachePolicy.s3Fifo());
    }

    /** Returns these settings with another page size. */
    public CacheOptions withPageBytes(int bytes) {
        return new CacheOptions(capacityBytes, bytes, readAheadBytes, policy);
    }

    /** Returns these settings with more or less read-ahead. */
    public CacheOptions withReadAheadBytes(long bytes) {
        return new CacheOptions(capacityBytes, pageBytes, bytes, policy);
    }

    /** Returns these settings with another policy. */
    public CacheOptions withPolicy(CachePolicy.Factory other) {
        return new CacheOptions(capacityBytes, pageBytes, readAheadBytes, other);
    }
}
