package lunar.it;

import lunar.rdma.ProviderStatus;
import lunar.rdma.Rdma;
import org.junit.jupiter.api.Assumptions;

/** The RDMA devices of this machine, for tests that need one. */
final class RdmaDevices {
    static final String NEEDED = "libfabric:tcp";

    private RdmaDevices() {}

    /** Skips the test, with the reason, if {@link #NEEDED} is unavailable; it needs no adapter. */
    static void require() {
        boolean found = Rdma.devices().stream()
                .anyMatch(device -> device.info().name().equals(NEEDED));
        if (!found) {
            String why = "no " + NEEDED + ": "
                    + Rdma.providers().stream().map(ProviderStatus::toString).toList();
            System.out.println("skipped: " + why);
            Assumptions.abort(why);
        }
    }
}
