package lunar.it;

import lunar.iser.IserTransportProvider;
import org.junit.jupiter.api.BeforeAll;

/** Runs {@link PlacedDataContract} over iSER. */
class IserDataTest extends PlacedDataContract {
    IserDataTest() { super(IserTransportProvider.SCHEME); }

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }
}
