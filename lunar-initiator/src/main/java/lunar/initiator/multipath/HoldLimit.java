package lunar.initiator.multipath;

/**
 * Limits how long writes are held at the {@link WriteBarrier}. Behind a session of this process, each waits as long as
 * requests wait for a path, but at least {@link MultipathOptions#DEFAULT_NO_PATH_MS}. Sessions that an earlier process
 * has left are ended while the device is opened, or cannot be ended without an operator: writes wait for them until
 * that time after the opening has passed, even if requests wait for a path without limit, and then fail at once.
 *
 * @param ms for how long requests are held, in milliseconds, or {@link MultipathOptions#FOREVER}
 * @param openedNanos when the first path was up, by {@link System#nanoTime}
 */
record HoldLimit(long ms, long openedNanos) {
    static HoldLimit of(MultipathOptions options, long openedNanos) {
        return new HoldLimit(Math.max(options.noPathMs(), MultipathOptions.DEFAULT_NO_PATH_MS),
                openedNanos);
    }

    /** Returns how long a session is waited for, in milliseconds. */
    long ms(boolean isEarlier) {
        return isEarlier && ms == MultipathOptions.FOREVER
                ? MultipathOptions.DEFAULT_NO_PATH_MS
                : ms;
    }

    /**
     * Returns when a request fails.
     *
     * @param isEarlier whether an earlier process has left the session that holds the request back
     * @param sinceNanos since when the request is held
     * @return by {@link System#nanoTime}; 0 for never
     */
    long untilNanos(boolean isEarlier, long sinceNanos) {
        long limitMs = ms(isEarlier);
        return limitMs == MultipathOptions.FOREVER
                ? 0
                : Math.max(1, (isEarlier ? openedNanos : sinceNanos) + limitMs * 1_000_000);
    }
}
