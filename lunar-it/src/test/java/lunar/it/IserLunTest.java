package lunar.it;

import lunar.iser.IserTransportProvider;
import org.junit.jupiter.api.BeforeAll;

/** Runs the block device contract on a LUN over iSER. */
class IserLunTest extends TransportLunContract {
    IserLunTest() { super(IserTransportProvider.SCHEME); }

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }
}
