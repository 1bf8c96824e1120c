package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.OwnershipLostException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.scsi.Lun;
import lunar.scsi.target.block.DiskSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a unit that accepts logins but refuses requests, since another gateway has taken over its volume. */
@Timeout(180)
class RefusedRequestsTest {
    private static final String NAME = "iqn.2026-11.org.lunar:refused";
    private static final int BLOCK = 512;

    private final AtomicInteger refused = new AtomicInteger();

    private BlockDevice lost() throws StorageException {
        return new ForwardingDevice(Devices.open("ram:1MiB")) {
            @Override
            public void submit(BlockRequest request) {
                refused.incrementAndGet();
                RequestCompletion.fail(request, new OwnershipLostException("taken over"));
            }

            @Override
            public void execute(BlockRequest request) throws StorageException {
                refused.incrementAndGet();
                throw new OwnershipLostException("taken over");
            }
        };
    }

    @Test
    void shouldFailRequestsAfterNoPathTimeoutWithoutBusyPolling() throws Exception {
        try (BlockDevice unit = lost();
                TargetServer server = TargetServer.builder().portal("127.0.0.1", 0)
                        .target(TargetSpec.of(NAME).withLun(0, DiskSpec.of(unit))).start();
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator,
                        MultipathOptions.of(List.of(SessionOptions.of("127.0.0.1",
                                server.portals().getFirst().getPort(), NAME)), Lun.ZERO)
                                .withPauses(50, 100).withNoPathMs(1_000))) {
            MemorySegment block = MemorySegment.ofArray(new byte[BLOCK]);
            assertThatThrownBy(() -> device.read(0, block))
                    .isInstanceOf(DeviceGoneException.class);
            var submitted = new CompletableFuture<StorageException>();
            device.submit(new BlockRequest().asRead(0, 1, Arena.ofAuto().allocate(BLOCK))
                    .onCompletion((_, failure) -> submitted.complete(failure)));
            assertThat(submitted.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(DeviceGoneException.class);
            assertThat(refused.get()).isBetween(2, 200);
        }
    }
}
