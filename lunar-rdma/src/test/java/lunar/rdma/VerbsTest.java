package lunar.rdma;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.BeforeAll;

/** Runs {@link RdmaContract} on the first verbs device; in a guest of lab/vm, this is soft-RoCE. */
class VerbsTest extends RdmaContract {
    @BeforeAll
    static void requireDevice() {
        try {
            Rdma.device("verbs");
        } catch (RdmaUnavailableException e) {
            System.out.println("VerbsTest is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
        }
    }

    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("verbs"); }

    @Override
    InetSocketAddress local() {
        return client.domain.device().addresses().stream()
                .filter(address -> address instanceof Inet4Address).findFirst()
                .map(address -> new InetSocketAddress(address, 0)).orElseThrow();
    }

    /** Soft-RoCE reports IBV_WC_LOC_QP_OP_ERR; adapters report IBV_WC_LOC_LEN_ERR. */
    @Override
    CompletionStatus tooLong() {
        return client.domain.device().name().contains("rxe")
                ? CompletionStatus.PROVIDER_ERROR
                : super.tooLong();
    }

    /** A guest without hardware virtualization establishes only a few connections per second. */
    @Override
    int manyConnections() { return 40; }
}
