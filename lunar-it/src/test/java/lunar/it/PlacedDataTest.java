package lunar.it;

import lunar.testkit.pipe.PlacingPipeTransportProvider;

/** Tests data that a transport within this process places. */
class PlacedDataTest extends PlacedDataContract {
    PlacedDataTest() { super(PlacingPipeTransportProvider.SCHEME); }
}
