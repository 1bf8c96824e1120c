package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.scsi.Lun;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;

/** Runs the example of the README, literally except for the port. */
class ReadmeExampleTest {
    private final ScriptedDisk served = new ScriptedDisk();

    @Test
    void shouldReadWriteAndFlushInTenLines() throws Exception {
        try (var target = ScriptedTarget.start(served::serve)) {
            Arrays.fill(served.blocks(), 0, 8 * 512, (byte) 7);
            try (var initiator = Initiator.create("iqn.2026-11.org.example:host1");
                    var session = initiator.login(
                            "iscsi://" + target.portal() + "/iqn.2026-11.org.lunar:demo");
                    var disk = session.open(Lun.of(0));
                    var arena = Arena.ofConfined()) {
                MemorySegment buffer = arena.allocate(8L * disk.blockSize(), 4096);
                disk.read(0, buffer);
                disk.write(disk.blockCount() - 8, buffer);
                disk.flush();
            }
            byte[] all = served.blocks();
            assertThat(Arrays.copyOfRange(all, all.length - 8 * 512, all.length))
                    .containsOnly((byte) 7);
            assertThat(target.failures()).isEmpty();
        }
    }

    @Test
    void shouldOpenALunByItsUri() throws Exception {
        try (var target = ScriptedTarget.start(served::serve);
                BlockDevice disk = Devices
                        .open("iscsi://" + target.portal() + "/iqn.2026-11.org.lunar:demo/0")) {
            MemorySegment written = MemorySegment.ofArray(new byte[40 * 512]);
            written.fill((byte) 3);
            disk.write(100, written);
            MemorySegment read = MemorySegment.ofArray(new byte[40 * 512]);
            disk.read(100, read);

            assertThat(read.mismatch(written)).isEqualTo(-1);
            assertThat(disk.identity().product()).isEqualTo("SCRIPTED");
            assertThat(disk.geometry().blockCount()).isEqualTo(ScriptedDisk.BLOCK_COUNT);
            assertThat(disk.capabilities()).isEmpty();
        }
    }

    @Test
    void shouldRejectADeviceUriWithoutALun() {
        assertThatThrownBy(() -> Devices.open("iscsi://127.0.0.1/iqn.2026-11.org.lunar:demo"))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("has no LUN");
    }

    @Test
    void shouldReportInOneLineThatADeviceCannotBeOpened() throws Exception {
        try (var target = ScriptedTarget.start(ScriptedPeer::cut)) {
            assertThatThrownBy(() -> Devices.open("iscsi://u%hidden@" + target.portal()
                    + "/iqn.2026-11.org.lunar:demo/0")).isInstanceOf(DeviceGoneException.class)
                    .message().contains(target.portal()).doesNotContain("\n", "hidden");
        }
    }
}
