package lunar.bench.harness;

/**
 * A measured LUN.
 *
 * @param label label in reports and results
 * @param server name of its server
 */
public record Subject(String label, String server, int lun) {
    @Override
    public String toString() { return label; }
}
