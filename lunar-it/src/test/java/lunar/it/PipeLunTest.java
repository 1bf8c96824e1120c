package lunar.it;

import lunar.testkit.pipe.PipeTransportProvider;
import lunar.testkit.pipe.PlacingPipeTransportProvider;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Timeout;

/** Runs the contract of a block device on a LUN over transports within this process, which neither end knows. */
@Timeout(180)
class PipeLunTest {
    @Nested
    class Plain extends TransportLunContract {
        Plain() { super(PipeTransportProvider.SCHEME); }
    }

    @Nested
    class Placing extends TransportLunContract {
        Placing() { super(PlacingPipeTransportProvider.SCHEME); }
    }
}
