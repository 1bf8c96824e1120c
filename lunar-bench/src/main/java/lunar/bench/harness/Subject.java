package lunar.bench.harness;

/**
 * A LUN that is measured.
 *
 * @param label for people and for the results
 * @param server name of the server at which it is
 */
public record Subject(String label, String server, int lun) {
    @Override
    public String toString() { return label; }
}
