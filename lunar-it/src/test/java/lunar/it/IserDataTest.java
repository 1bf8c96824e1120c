package lunar.it;

import lunar.iser.IserTransportProvider;
import org.junit.jupiter.api.BeforeAll;

/** Data that RDMA places. */
class IserDataTest extends PlacedDataContract {
    IserDataTest() { super(IserTransportProvider.SCHEME); }

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }
}
