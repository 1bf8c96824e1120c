package lunar.it;

import lunar.iscsi.spi.Transports;
import lunar.testkit.pipe.PipeTransportProvider;
import lunar.testkit.pipe.PlacingPipeTransportProvider;
import org.junit.jupiter.api.Nested;

/** Runs the contract of the client and the device of object stores over TCP, and over transports within this process. */
class OsdClientTest {
    @Nested
    class Tcp extends OsdClientContract {
        Tcp() { super(Transports.ISCSI); }
    }

    @Nested
    class Plain extends OsdClientContract {
        Plain() { super(PipeTransportProvider.SCHEME); }
    }

    @Nested
    class Placing extends OsdClientContract {
        Placing() { super(PlacingPipeTransportProvider.SCHEME); }
    }
}
