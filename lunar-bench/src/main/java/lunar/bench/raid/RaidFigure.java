package lunar.bench.raid;

/**
 * Measurement of a work.
 *
 * @param megabytesPerSecond of what the host gives or takes; of a rebuild of what the new member gets
 * @param cpuSecondsPerGigabyte of the same bytes, of the whole process
 */
record RaidFigure(int round, String subject, String work, double megabytesPerSecond,
        double cpuSecondsPerGigabyte) {}
