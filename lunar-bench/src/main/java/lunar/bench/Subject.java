package lunar.bench;

/**
 * A LUN that is measured.
 *
 * @param label for people and for the results
 * @param server name of the server at which it is
 */
record Subject(String label, String server, int lun) {
    @Override
    public String toString() { return label; }
}
