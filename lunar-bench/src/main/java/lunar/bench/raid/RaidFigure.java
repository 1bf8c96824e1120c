package lunar.bench.raid;

/**
 * Result of a workload.
 *
 * @param megabytesPerSecond of host data; for a rebuild, of data written to the new member
 * @param cpuSecondsPerGigabyte processor time of the whole process per gigabyte
 */
record RaidFigure(int round, String subject, String work, double megabytesPerSecond,
        double cpuSecondsPerGigabyte) {}
