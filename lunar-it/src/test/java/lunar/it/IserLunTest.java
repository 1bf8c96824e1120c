package lunar.it;

import lunar.iser.IserTransportProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

/** Runs the block device contract on a LUN over iSER. */
@Timeout(300)
class IserLunTest extends TransportLunContract {
    IserLunTest() { super(IserTransportProvider.SCHEME); }

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }
}
