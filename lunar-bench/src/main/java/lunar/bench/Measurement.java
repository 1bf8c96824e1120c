package lunar.bench;

/**
 * One measurement.
 *
 * @param round from 1
 * @param serverUs microseconds of processor time of the server for an operation
 * @param clientUs the same of the client
 * @param otherCores cores busy with neither of them
 * @param load the load average of one minute at its end
 */
record Measurement(int round, Work work, Subject subject, Client client, Client.Outcome outcome,
        double serverUs, double clientUs, double otherCores, double load) {

    /** A LUN of one of the servers. */
    enum Subject {
        TGTD_FILE("tgtd, file", 1), LUNAR_FILE("Lunar, file", 0), LUNAR_RAM("Lunar, memory", 1);

        private final String label;
        private final int lun;

        Subject(String label, int lun) {
            this.label = label;
            this.lun = lun;
        }

        int lun() { return lun; }

        boolean isLunar() { return this != TGTD_FILE; }

        @Override
        public String toString() { return label; }
    }

    double iops() { return outcome.iops(); }
}
