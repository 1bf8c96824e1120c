package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.RunOptions;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.ScanKind;
import lunar.raid.service.VolumeEvent;
import lunar.raid.service.VolumeSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that initiators with a volume open see its new blocks in their existing sessions. */
@Timeout(180)
class GrownVolumeTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:grown";
    private static final int MEMBERS = 3;

    @TempDir
    private Path directory;

    private String member(int number) {
        return "file:" + directory.resolve("m" + number) + "?size=8M";
    }

    private VolumeSpec created(Level level) throws Exception {
        var uris = new ArrayList<String>();
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < MEMBERS; i++) {
            uris.add(member(i));
            members.add(new Creation.Member(member(i), UUID.randomUUID(),
                    Devices.open(member(i))));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "vol", 0, level, UUID.randomUUID()),
                members, false);
        for (Creation.Member one : members) {
            one.device().close();
        }
        return new VolumeSpec(level, "vol", uris, List.of(), Optional.empty(),
                RunOptions.DEFAULT);
    }

    private static MemorySegment block(int content) {
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        block.fill((byte) content);
        return block;
    }

    private static byte[] read(BlockDevice device, long block) throws Exception {
        MemorySegment data = block(-1);
        device.read(block, data);
        return data.toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"LINEAR", "RAID5"})
    void shouldAppearInExistingSessions(Level level) throws Exception {
        var through = new ArrayBlockingQueue<ScanKind>(8);
        try (var volume = RunningVolume.open(created(level), Devices::open, List.of(), event -> {
            if (event instanceof VolumeEvent.ScanEnded end && end.isThrough()) {
                through.add(end.kind());
            }
        });
                var server = TargetServer.builder()
                        .portal(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .target(TargetSpec.of(TARGET).withLun(0, volume)).start()) {
            String uri = "iscsi://127.0.0.1:" + server.portals().getFirst().getPort() + "/"
                    + TARGET + "/0";
            try (BlockDevice one = Devices.open(uri); BlockDevice two = Devices.open(uri)) {
                long before = volume.blockCount();
                one.write(before - 1, block(7));
                if (level == Level.RAID5) {
                    assertThat(through.take()).isEqualTo(ScanKind.RESYNC);
                }
                volume.grow(member(MEMBERS), false);
                if (level == Level.RAID5) {
                    assertThat(through.take()).isEqualTo(ScanKind.RESHAPE);
                }
                long after = volume.blockCount();
                assertThat(after).isGreaterThan(before);
                server.checkCapacities();
                for (BlockDevice lun : List.of(one, two)) {
                    while (lun.blockCount() == before) { // the next command is told of it
                        assertThat(read(lun, before - 1)).containsOnly(7);
                    }
                    assertThat(lun.blockCount()).isEqualTo(after);
                    assertThat(read(lun, after - 1)).containsOnly(lun.equals(one) ? 0 : 9);
                    lun.write(after - 1, block(9));
                }
            }
        }
    }
}
