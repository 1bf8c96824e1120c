package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.IscsiUri;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.RunOptions;
import lunar.raid.service.RunTiming;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeEvent;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeSpec;
import org.junit.jupiter.api.Test;

/**
 * Tests a mirror with a member that fails with writes in flight, returns over a new connection and is resynced before
 * the network delivers the writes of its old connection: both members must keep what was written last.
 */
class LateMemberWritesTest {
    private static final String SIZE = "16MiB";
    private static final int LBA = 4321;

    private static final RunTiming FAST = new RunTiming(Duration.ofMillis(50), 2,
            Duration.ofMillis(100), Duration.ofMillis(500), Duration.ofSeconds(60),
            Duration.ofSeconds(30), Duration.ofSeconds(30));

    private static MemorySegment block(int content) {
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        block.fill((byte) content);
        return block;
    }

    /**
     * As {@code iscsi:} URIs are opened, each time with an initiator of its own. Where the URI has a keep-alive, the
     * device is gone as soon as it has no path; else it waits for one, since that member must not fail.
     */
    private static BlockDevice open(String uri) throws StorageException {
        IscsiUri parsed = IscsiUri.parse(uri);
        Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:late-member");
        Timeouts timeouts = parsed.sessionOptions().timeouts().withAbortMs(2_000)
                .withLogoutMs(500).withLoginMs(5_000);
        long noPathMs = uri.contains("keep-alive=") ? 0 : 60_000;
        try {
            var device = MultipathDevice.open(initiator, MultipathOptions
                    .of(List.of(parsed.sessionOptions().withTimeouts(timeouts)),
                            parsed.lun().orElseThrow())
                    .withNoPathMs(noPathMs).withPauses(10, 100));
            return new ForwardingDevice(device) {
                @Override
                public void submit(BlockRequest request) { below().submit(request); }

                @Override
                public void execute(BlockRequest request) throws StorageException {
                    below().execute(request);
                }

                @Override
                public void close() throws StorageException {
                    super.close();
                    initiator.close();
                }
            };
        } catch (DeviceGoneException e) {
            initiator.close();
            throw e;
        }
    }

    static VolumeSpec created(List<String> uris) throws IOException {
        var members = new ArrayList<Creation.Member>();
        for (String uri : uris) {
            members.add(new Creation.Member(uri, UUID.randomUUID(), open(uri)));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "late", 0, Level.RAID1,
                UUID.randomUUID()), members, false);
        for (Creation.Member one : members) {
            one.device().close();
        }
        return new VolumeSpec(Level.RAID1, "late", uris, List.of(), Optional.empty(),
                RunOptions.DEFAULT.withTiming(FAST));
    }

    /** Blocks of a device that are filled with a byte. */
    private static List<Long> filledWith(BlockDevice device, int content) throws IOException {
        var found = new ArrayList<Long>();
        MemorySegment wanted = block(content);
        int piece = 1024;
        MemorySegment data = MemorySegment.ofArray(new byte[piece * 512]);
        for (long lba = 0; lba < device.blockCount(); lba += piece) {
            device.read(lba, data);
            for (int i = 0; i < piece; i++) {
                if (data.asSlice(i * 512L, 512).mismatch(wanted) < 0) {
                    found.add(lba + i);
                }
            }
        }
        return found;
    }

    @Test
    void shouldNotOverwriteAMirrorByWritesOfAnOldConnection() throws Exception {
        var events = new ConcurrentLinkedQueue<VolumeEvent>();
        try (var left = ServedTarget.of("ram:" + SIZE);
                var right = ServedTarget.of("ram:" + SIZE);
                var proxy = new FreezeProxy(left.server().portals().getFirst().getPort())) {
            var spec = created(List.of(
                    "iscsi://127.0.0.1:" + proxy.port() + "/" + ServedTarget.NAME
                            + "/0?keep-alive=1500ms",
                    right.url(0)));
            try (var volume = RunningVolume.open(spec, LateMemberWritesTest::open, List.of(),
                    events::add)) {
                ServedTarget.await("first resync", () -> isClean(volume));
                volume.write(LBA, block(0x5a));
                events.clear(); // the member may have been lost before, on a loaded machine
                proxy.freezeOpen();
                volume.write(LBA, block(0x6b)); // acknowledged by the right member
                ServedTarget.await("return", () -> events.stream()
                        .anyMatch(VolumeEvent.MemberReturned.class::isInstance));
                volume.write(LBA, block(0x7c));
                volume.flush();
                ServedTarget.await("clean again", () -> isClean(volume));
                assertThat(filledWith(left.device(0), 0x7c)).hasSize(1);
                assertThat(proxy.heldToTarget()).as("0x6b is still on its way").isPositive();
                proxy.thaw();
                ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
                volume.write(LBA + 8, block(0x11)); // by the new connection, behind what came by the old one
                volume.flush();
                assertThat(filledWith(left.device(0), 0x6b)).isEmpty();
                assertThat(filledWith(left.device(0), 0x7c)).hasSize(1);
                for (int i = 0; i < 16; i++) {
                    MemorySegment data = block(0);
                    volume.read(LBA, data);
                    assertThat(data.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x7c);
                }
            }
        }
    }

    private static boolean isClean(RunningVolume volume) {
        return volume.status().health() == VolumeHealth.CLEAN;
    }
}
